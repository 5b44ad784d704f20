"""What the text of a change says about itself: pure rules, one family a module.

Nothing here runs or imports what it looks at. The text is hostile, so that the rules themselves run
in a box (`astra.adapters.change_scanner`); called directly they are plain functions.
"""
