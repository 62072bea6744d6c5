// The text of models and workers as it comes.
import { Component, html } from "/assets/core/html.js";
import { counted, oneLine, safe } from "/assets/core/text.js";
import { VirtualList } from "/assets/core/virtual.js";

const ROW = 20;
const WIDTH = 240; // characters of a row: a longer line goes on in the next one

export class Streams extends Component {
  state = { key: "", follow: true, filter: "" };
  split = { text: "", lines: [] };

  render({ workbench }, { key, follow, filter }) {
    const { streams } = workbench.state;
    const keys = [...streams.keys()];
    const shown = streams.has(key) ? key : keys.at(-1) ?? "";
    const lines = this.lines(streams.get(shown) ?? "", filter);
    const row = (at) => html`<div class="stream-line" key=${at}>${lines[at]}</div>`;
    const onScrolled = (box) => {
      if (follow && box.scrollHeight - box.scrollTop - box.clientHeight > 200) this.setState({ follow: false });
    };
    return html`<section class="panel streams" aria-labelledby="streams-title">
      <header class="panel-head"><h2 id="streams-title">Streams</h2><span class="dim">${counted(lines.length, "line")}</span>
      </header>
      ${keys.length === 0
        ? html`<p class="empty dim">Nothing has been said since the workbench started.</p>`
        : html`<div class="bar"><label>Stream <select value=${shown}
              onChange=${(event) => this.setState({ key: event.target.value, follow: true })}>${keys.map(
                (one) => html`<option key=${one} value=${one}>${oneLine(one, 60)}</option>`,
              )}</select></label>
            <label>Filter <input type="search" value=${filter}
              onInput=${(event) => this.setState({ filter: event.target.value })} /></label>
            <label class="check"><input type="checkbox" checked=${follow}
              onChange=${() => this.setState({ follow: !follow })} /> Follow</label></div>
          <${VirtualList} count=${lines.length} rowHeight=${ROW} row=${row} label=${`Stream ${oneLine(shown, 60)}`}
            className="stream" follow=${follow} onScrolled=${onScrolled} />`}
    </section>`;
  }

  lines(text, filter) {
    if (this.split.text !== text) {
      const lines = [];
      for (const line of safe(text).split("\n")) {
        for (let at = 0; at === 0 || at < line.length; at += WIDTH) lines.push(line.slice(at, at + WIDTH));
      }
      this.split = { text, lines };
    }
    const wanted = filter.toLowerCase();
    return wanted ? this.split.lines.filter((line) => line.toLowerCase().includes(wanted)) : this.split.lines;
  }
}
