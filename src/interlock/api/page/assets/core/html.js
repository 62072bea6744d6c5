// Preact with htm's templates: every value becomes a text node or a property, never markup.
import htm from "/assets/vendor/htm.mjs";
import { Component, Fragment, createRef, h, render } from "/assets/vendor/preact.mjs";

export const html = htm.bind(h);
export { Component, Fragment, createRef, h, render };
