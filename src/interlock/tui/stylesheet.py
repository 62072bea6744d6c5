"""The layout of the terminal workbench. Colours come from the theme (`colours.py`)."""

STYLES = """
Screen { layout: vertical; background: $background; }
#top { background: $panel; }
#tabs { background: $background; }
#desk { height: 1fr; }
#middle { width: 1fr; }
.panel { border: round $line; background: $panel; width: 1fr; height: 1fr; padding: 0; }
.panel:focus-within { border: round $frame; border-title-style: bold; }
.panel { border-title-color: $foreground; border-subtitle-color: $beside; }
.wide #board { width: 28%; max-width: 50; }
.wide #inbox { width: 40%; }
LineList { scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; background: $panel; overflow-x: hidden; }
Input { border: none; height: 1; padding: 0 1; background: $code; color: $foreground; }
Input:focus { border: none; background: $code; }
TextArea { border: none; background: $code; color: $foreground; height: 3; padding: 0 1; }
TextArea:focus { border: none; }
#foot { background: $background; }
#note { height: auto; background: $panel; }
.over { align: center middle; background: $shade; }
.over .box { width: 70; max-width: 96%; height: auto; border: round $frame; background: $panel; padding: 0 1; }
.over .page { width: 96%; max-width: 120; height: 90%; border: round $frame; background: $panel; padding: 0 1; }
.over .head { background: $panel; }
#inbox-list { height: 1; }
#detail { height: 1fr; border-top: solid $line; }
#actions { height: 1; margin-top: 1; }
#palette-lines { height: auto; max-height: 16; }
"""
