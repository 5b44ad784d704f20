"""How a model is asked for code: places by the syntax tree, spliced, parsed, format by format."""

from typing import Any

import pytest

from astra.plans.code.blocks import (
    Block,
    NotThere,
    apply_block,
    apply_blocks,
    read_blocks,
    read_diff,
)
from astra.plans.code.extracting import cut_definition
from astra.plans.code.memory import FORMATS, sort_formats
from astra.plans.code.places import (
    MOST_PLACES,
    NEW_CODE,
    NEW_FILE,
    WHOLE_FILE,
    describe_context,
    list_places,
)
from astra.plans.code.splicing import CannotSplice, append_code, replace_symbol
from astra.plans.code.syntax import Symbol, find_syntax_error, list_symbols
from astra.plans.code.writing import CodeWriter, Task
from astra.trusted.kernel.errors import BadInput
from plans_at_work import ScriptedModel

SOURCE = '''"""A shelf."""

import json

LIMIT = 3


@staticmethod
def free(text):
    return json.loads(text)


class Shelf:
    """Holds things."""

    def add(self, item):
        self.items.append(item)

    async def count(self):
        return len(self.items)
'''


def symbol(name: str) -> Symbol:
    (match,) = [item for item in list_symbols(SOURCE) if item.name == name]
    return match


def test_symbols_are_functions_classes_methods_and_constants() -> None:
    names = [item.name for item in list_symbols(SOURCE)]
    assert names == ["LIMIT", "free", "Shelf", "Shelf.add", "Shelf.count"]
    lines = SOURCE.splitlines()
    assert lines[symbol("free").first] == "@staticmethod", "decorators belong to it"
    assert lines[symbol("Shelf.add").last].strip() == "self.items.append(item)"


@pytest.mark.parametrize(
    "code",
    [
        "def add(self, item):\n    self.items.insert(0, item)",
        "    def add(self, item):\n        self.items.insert(0, item)",
        "class Shelf:\n    def add(self, item):\n        self.items.insert(0, item)",
        "\tdef add(self, item):\n\t\tself.items.insert(0, item)",
    ],
    ids=["flat", "indented", "with its class", "tabs"],
)
def test_a_method_is_put_in_its_place_however_it_is_indented(code: str) -> None:
    edited = replace_symbol(SOURCE, symbol("Shelf.add"), code)
    assert edited == SOURCE.replace("append(item)", "insert(0, item)")


def test_imports_that_the_code_brings_go_behind_those_of_the_file_once() -> None:
    code = (
        "import json\nimport os\nfrom a import (\n    b,\n)\n\ndef free(text):\n    return os.name"
    )
    edited = replace_symbol(SOURCE, symbol("free"), code)
    assert edited.count("import json") == 1
    assert "import json\nimport os\nfrom a import ( b, )\n" in edited
    assert find_syntax_error("x.py", edited) == ""


def test_a_constant_can_be_rewritten() -> None:
    assert replace_symbol(SOURCE, symbol("LIMIT"), "LIMIT = 5") == SOURCE.replace("3", "5")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("def add(self, item:\n    pass", "does not parse: line 1"),
        ("def other(self):\n    pass", "does not define add"),
        ("def add(self, item):\n    ...", "is left out"),
        ("print('hello')", "does not define add"),
        ("(" * 500, "brackets nest deeper"),
        ("x = " + "-" * 100_000 + "1", "not Python"),
    ],
)
def test_what_cannot_take_the_place_is_refused_in_words(code: str, why: str) -> None:
    with pytest.raises(CannotSplice, match=why):
        replace_symbol(SOURCE, symbol("Shelf.add"), code)


@pytest.mark.parametrize(
    "around",
    [
        "import json\nLIMIT = 3\nclass Shelf:\n    {}",
        "import json\n\nLIMIT = 3\n\n\nclass Shelf:\n    pass\n\n\n{}\n\n\nprint(free('1'))\n",
        "class Other:\nclass Shelf:\n    {}\n",
        "Here it is:\n{}\nThat is all.",
    ],
    ids=["classes without bodies", "the whole file and an example", "nested", "prose"],
)
def test_what_an_answer_repeats_around_a_symbol_is_left_out(around: str) -> None:
    code = "def free(text):\n    return text"
    indent = "\n    " if "    {}" in around else "\n"
    edited = replace_symbol(SOURCE, symbol("free"), around.format(indent.join(code.split("\n"))))
    assert edited == SOURCE.replace("@staticmethod\n", "").replace("json.loads(text)", "text")


def test_a_new_helper_beside_a_symbol_stays() -> None:
    code = (
        "def _clean(text):\n    return text.strip()\n\n\ndef free(text):\n    return _clean(text)"
    )
    edited = replace_symbol(SOURCE, symbol("free"), code)
    assert "def _clean(text):\n    return text.strip()\n\n\ndef free(text):" in edited


def test_a_definition_in_parts_that_close_at_its_indentation_is_cut_out_whole() -> None:
    code = "class A:\n@cache\ndef free(\n    text,\n):\n    return text\nclass B:\n"
    assert cut_definition(code, "free") == "@cache\ndef free(\n    text,\n):\n    return text"
    assert cut_definition("def free(:\n    pass", "free") == ""


def test_new_code_goes_to_the_end_and_defines_nothing_twice() -> None:
    assert append_code(SOURCE, "def last():\n    return 1").endswith(
        "\n\n\ndef last():\n    return 1\n"
    )
    with pytest.raises(CannotSplice, match="free is in the file already"):
        append_code(SOURCE, "def free(text):\n    return 1")


def test_places_are_a_closed_list_with_the_likeliest_first() -> None:
    files = {f"part{n}.py": f"def part{n}():\n    return {n}\n" for n in range(30)}
    files |= {"shelf.py": SOURCE, "notes.md": "# Notes\n", "tests/test_shelf.py": SOURCE}
    places = list_places(files, ["docs/new.md"], "count the items of a shelf")
    assert len(places) < MOST_PLACES, "what shares nothing with the instructions is left out"
    assert places[0].name == "shelf.py::Shelf.count"
    assert [place.name for place in places[-2:]] == [
        f"shelf.py::{NEW_CODE}",
        f"docs/new.md::{NEW_FILE}",
    ], "something new can always be written"
    many = list_places(files, [], "something else")
    assert len(many) == MOST_PLACES, "where nothing is likely, no place is left out for that"
    assert not any(place.path.startswith("tests/") for place in places[:4])
    few = list_places({"notes.md": "# Notes\n", "a.py": "x = 1\n"}, ["new.md"], "write")
    assert {place.what for place in few} == {WHOLE_FILE, "x", NEW_CODE, NEW_FILE}


def test_a_constant_with_a_number_of_the_instructions_comes_before_what_uses_it() -> None:
    text = "PAUSE = 1.0\n\n\ndef loop(pause=PAUSE):\n    return sleep(pause)\n"
    places = list_places({"loop.py": text}, [], "The loop should pause for 2 seconds, not 1")
    assert places[0].name == "loop.py::PAUSE"


def test_a_place_that_the_instructions_name_with_its_file_is_not_asked_for() -> None:
    model = ScriptedModel(FRONT)
    task = Task(instructions="In shelf.py, have add() insert in front", files={"shelf.py": SOURCE})
    assert CodeWriter(model=model).write(task).files["shelf.py"].count("insert(0, item)") == 1
    assert [prompt.version for prompt in model.prompts] == ["rewriting-1"]


def test_a_text_quoted_in_the_instructions_leads_to_its_place() -> None:
    files = {"shelf.py": SOURCE, "greet.py": 'def hi():\n    return "Hello from here"\n'}
    places = list_places(files, [], "say 'Good day' instead of 'Hello from here' when asked")
    assert places[0].name == "greet.py::hi"


BLOCK = """shelf.py
<<<<<<< SEARCH
def add(self, item):
  self.items.append(item)
=======
def add(self, item):
    self.items.insert(0, item)
>>>>>>> REPLACE"""


def test_search_and_replace_forgives_white_space_and_keeps_indentation() -> None:
    (block,) = read_blocks(f"Sure!\n{BLOCK}\nDone.")
    edited = apply_blocks({"lib/shelf.py": SOURCE}, [block])
    assert edited == {"lib/shelf.py": SOURCE.replace("append(item)", "insert(0, item)")}


def test_a_near_miss_is_named_and_an_ambiguous_search_refused() -> None:
    with pytest.raises(NotThere, match=r"did you mean 'self.items.append\(item\)'"):
        apply_block(SOURCE, Block(path="a.py", search="self.items.apend(item)", replace="x"))
    with pytest.raises(NotThere, match="2 times"):
        apply_block("a\nb\na\n", Block(path="a", search="a", replace="c"))


def test_a_diff_is_found_by_its_context_and_not_by_its_numbers() -> None:
    diff = (
        "--- a/shelf.py\n+++ b/shelf.py\n@@ -900,3 +900,3 @@ class Shelf\n"
        "     def add(self, item):\n-        self.items.append(item)\n"
        "+        self.items.insert(0, item)\n \n"
    )
    edited = apply_blocks({"shelf.py": SOURCE}, read_diff(f"```diff\n{diff}```"))
    assert edited == {"shelf.py": SOURCE.replace("append(item)", "insert(0, item)")}


def test_what_worked_comes_first_and_what_failed_last() -> None:
    assert sort_formats({}) == list(FORMATS)
    assert sort_formats({"diff": (2, 0), "symbol": (0, 1)})[0] == "diff"
    assert sort_formats({"diff": (2, 0), "symbol": (0, 1)})[-1] == "symbol"


@pytest.mark.parametrize(
    ("path", "text", "error"),
    [
        ("a.json", "{", "Expecting"),
        ("a.toml", "x =", "Invalid"),
        ("a.md", "{", ""),
        ("a.py", "x = 1\n", ""),
        ("a.py", "x = 1\0", "null bytes"),
    ],
)
def test_a_file_is_parsed_as_what_its_name_says(path: str, text: str, error: str) -> None:
    assert error in find_syntax_error(path, text)
    assert bool(error) == bool(find_syntax_error(path, text))


def write(*sayings: Any, files: dict[str, str] | None = None) -> tuple[Any, ScriptedModel]:
    model = ScriptedModel(*sayings)
    task = Task(instructions="insert items in front", files=files or {"shelf.py": SOURCE})
    return CodeWriter(model=model).write(task), model


FRONT = "```python\ndef add(self, item):\n    self.items.insert(0, item)\n```"


@pytest.mark.parametrize(
    "answer",
    [
        {"places": ["shelf.py::Shelf.add"]},
        {"place": "shelf.py::Shelf.add"},
        {"places": ["Shelf.add"]},
        {"places": ["add"]},
        [{"places": ["shelf.py::Shelf.add"], "note": "here"}],
    ],
)
def test_a_place_is_understood_however_it_is_named(answer: Any) -> None:
    written, _ = write(answer, FRONT)
    assert written.files == {"shelf.py": SOURCE.replace("append(item)", "insert(0, item)")}


def test_two_places_of_a_file_are_both_rewritten() -> None:
    count = "```python\nasync def count(self):\n    return LIMIT\n```"
    written, _ = write({"places": ["Shelf.add", "Shelf.count"]}, count, FRONT)
    edited = SOURCE.replace("append(item)", "insert(0, item)")
    assert written.files == {"shelf.py": edited.replace("len(self.items)", "LIMIT")}


def test_one_of_two_places_may_turn_out_to_be_right_as_it_is() -> None:
    count = "```python\nasync def count(self):\n    return len(self.items)\n```"
    written, model = write({"places": ["Shelf.add", "Shelf.count"]}, count, FRONT)
    assert written.files == {"shelf.py": SOURCE.replace("append(item)", "insert(0, item)")}
    assert len(model.prompts) == 3


def test_a_rewrite_that_changes_nothing_goes_back() -> None:
    same = "```python\ndef add(self, item):\n    self.items.append(item)\n```"
    written, model = write({"places": ["Shelf.add"]}, same, FRONT)
    assert written.objection == ""
    assert "nothing in Shelf.add would change" in model.prompts[2].data[-2]


def test_a_piece_is_asked_for_with_what_is_said_of_it_and_no_code_to_copy() -> None:
    remark = '"""\nadd puts an item on the shelf.\n"""\n'
    _written, model = write({"places": ["Shelf.add"]}, FRONT, files={"shelf.py": SOURCE + remark})
    question = "\n".join(model.prompts[1].data)
    assert "add puts an item on the shelf." in question
    assert "import json" not in question
    assert "A shelf." not in question
    assert "names that it may use" not in question


def test_a_name_of_the_file_that_the_instructions_speak_of_is_given() -> None:
    (place,) = [item for item in list_places({"a.py": SOURCE}, [], "x") if item.what == "Shelf.add"]
    assert describe_context(place, SOURCE, "never hold more than LIMIT, json") == (
        "",
        "json, LIMIT",
    )


def test_a_model_that_says_the_same_again_is_not_asked_a_third_time() -> None:
    _written, model = write({"places": ["Shelf.add"]}, *["no idea"] * 20)
    assert [prompt.version for prompt in model.prompts] == [
        "placing-2",
        *["rewriting-1"] * 2,
        *["replacing-1"] * 2,
    ]


def test_the_files_that_the_instructions_speak_of_come_first_where_not_all_fit() -> None:
    files = {f"a{number}.txt": "nothing\n" * 500 for number in range(9)} | {"shelf.py": SOURCE}
    _written, model = write({"places": ["Shelf.add"]}, *["no idea"] * 20, files=files)
    assert model.prompts[-1].data[0].startswith("<<<UNTRUSTED file shelf.py")
    assert sum(map(len, model.prompts[-1].data)) < 10_000


def test_after_two_formats_it_ends_in_words_with_nothing_written() -> None:
    written, model = write(*(f"no idea {number}" for number in range(20)))
    assert written.files == {}
    assert "no usable answer" in written.objection
    assert len(model.prompts) == 6, "three tries in each of two formats"


def test_a_whole_small_file_can_be_written_anew() -> None:
    written, _ = write(
        {"places": ["a.md::(whole file)"]}, "```\n# Better\n```", files={"a.md": "# Good\n"}
    )
    assert written.files == {"a.md": "# Better\n"}


def test_a_model_that_gives_whole_files_at_once_is_taken_at_its_word() -> None:
    written, model = write({"files": [{"path": "x.py", "content": "x = 1\n"}]})
    assert written.files == {"x.py": "x = 1\n"}
    assert len(model.prompts) == 1


def test_a_broken_whole_file_is_refused() -> None:
    (place,) = [
        item for item in list_places({"a.py": "x = 1\n"}, [], "y") if item.what == WHOLE_FILE
    ]
    with pytest.raises(BadInput, match="would not parse"):
        place.write_piece("x = 1\n", "x = (")
