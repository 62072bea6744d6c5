// Single letters act only while the inbox has the focus, and never while a text is being written.

export function isWriting(target) {
  if (!(target instanceof Element)) return false;
  return target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]") !== null;
}

export function letterOf(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || isWriting(event.target)) return "";
  return event.key.length === 1 ? event.key.toLowerCase() : "";
}
