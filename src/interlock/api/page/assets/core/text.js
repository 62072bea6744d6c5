// Makes untrusted text safe to show: the same rules and tables as interlock/views/display.py, which a test compares.
// `safe` is for text to read, `exact` for text that will run: it omits nothing.

const PLAIN = /^[\x20-\x7e]*$/;

// Terminal escape sequences.
const ESCAPES =
  /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[@-Z\\\-_]?)/gu;

const HIDDEN =
  "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f" +
  "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb" +
  "\\u{13430}-\\u{1345f}\\u{16fe4}\\u{1bca0}-\\u{1bca3}\\u{1d159}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}" +
  "\\ud800-\\udfff";
const COMBINING = "\\u0300-\\u036f\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe00-\\ufe0f\\ufe20-\\ufe2f";
const OTHER_SPACES = "\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000";
const NO_GLYPH = "\\p{Cc}\\p{Cf}\\p{Cn}\\p{Co}\\p{Cs}\\p{Zl}\\p{Zp}";

const UNSAFE = new RegExp(`[${HIDDEN}]|(?![\\x00-\\x7e])[${NO_GLYPH}]`, "gu");
const DECEIVING = new RegExp(
  `[${HIDDEN}${COMBINING}${OTHER_SPACES}]|(?![\\x00-\\x7e])[${NO_GLYPH}\\p{Mn}\\p{Me}\\p{Zs}]`,
  "gu",
);

function named(character) {
  return `<U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`;
}

export function safe(text) {
  const given = String(text ?? "");
  return PLAIN.test(given) ? given : given.replaceAll("\r\n", "\n").replace(ESCAPES, "").replace(UNSAFE, named);
}

export function exact(text) {
  const given = String(text ?? "");
  return PLAIN.test(given) ? given : given.replace(DECEIVING, named);
}

export function oneLine(text, width = 200) {
  const line = safe(String(text ?? "").trim().split("\n", 1)[0]);
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
}

export function sentence(text) {
  const line = oneLine(text);
  return line.slice(0, 1).toUpperCase() + line.slice(1);
}

export function counted(number, noun, plural = `${noun}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}

export function dollars(amount) {
  return `$${amount.toFixed(amount && amount < 0.01 ? 4 : 2)}`;
}

export function elapsed(since, now = Date.now()) {
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000));
  if (!Number.isFinite(seconds)) return "";
  if (seconds >= 172800) return `${Math.floor(seconds / 86400)} d`;
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
}

function two(number) {
  return String(number).padStart(2, "0");
}
