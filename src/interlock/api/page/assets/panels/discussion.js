// Discussions: messages, the answer as it streams, send and stop.
import { part } from "/assets/core/api.js";
import { Component, createRef, html } from "/assets/core/html.js";
import { markdown } from "/assets/core/markdown.js";
import { oneLine, safe } from "/assets/core/text.js";

const WHO = { user: "you", assistant: "model", tool: "tool" };

export class Discussion extends Component {
  state = { text: "" };
  end = createRef();

  componentDidMount() {
    const { state } = this.props.workbench;
    const latest = state.discussions.at(-1);
    if (!state.discussion && latest) this.props.workbench.selectDiscussion(latest.id);
  }

  componentDidUpdate() {
    const { state } = this.props.workbench;
    const said = state.messages.length + (state.streams.get(`Discussion: ${state.discussion}`)?.length ?? 0);
    if (said !== this.said) this.end.current?.scrollIntoView({ block: "nearest" });
    this.said = said;
  }

  send = async (event) => {
    event.preventDefault();
    const { workbench } = this.props;
    const { text } = this.state;
    if (!text.trim()) return;
    const sent = await workbench.act("the message", async (api) => {
      let { discussion } = workbench.state;
      if (!discussion) {
        discussion = (await api.post("/api/discussions", {})).id;
        workbench.set({ discussion });
      }
      await api.post(`/api/discussions/${part(discussion)}/messages`, { text });
    });
    if (sent) this.setState({ text: "" });
    workbench.soon("discussions");
    workbench.soon("messages");
  };

  onKey = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.send(event);
  };

  render({ workbench }, { text }) {
    const { discussions, discussion, messages, streams, connected } = workbench.state;
    const row = discussions.find((one) => one.id === discussion);
    const answering = row && row.state !== "quiet";
    const streaming = answering ? streams.get(`Discussion: ${discussion}`) : "";
    const stop = () => workbench.act("stop", (api) => api.post(`/api/discussions/${part(discussion)}/stop`, {}));
    const begin = () => workbench.selectDiscussion("");
    return html`<section class="panel discussion" aria-labelledby="discussion-title">
      <header class="panel-head"><h2 id="discussion-title">Discussion</h2>
        <label>Which <select value=${discussion} onChange=${(event) => workbench.selectDiscussion(event.target.value)}>
          <option value="">a new one</option>${discussions.map(
            (one) => html`<option key=${one.id} value=${one.id}>${oneLine(`${one.id} ${one.title}`, 60)}</option>`,
          )}</select></label><button type="button" onClick=${begin}>New</button></header>
      <div class="messages" role="log" aria-label="Messages" tabindex="0">
        ${messages.map((one, at) => message(one, at))}
        ${streaming && html`<div class="message assistant"><b>model</b><div class="said" id="streaming">${markdown(streaming)}</div></div>`}
        ${row?.state === "waiting" && html`<p class="waiting">◆ waiting for an approval in the inbox</p>`}
        ${row?.error && html`<p class="bad">${safe(row.error)}</p>`}
        <div ref=${this.end}></div>
      </div>
      <form onSubmit=${this.send}><label>Message
        <textarea rows="3" value=${text} onKeyDown=${this.onKey}
          onInput=${(event) => this.setState({ text: event.target.value })}></textarea></label>
        <div class="buttons"><button type="submit" class="go" disabled=${!connected || !text.trim()}>Send <kbd>Ctrl+Enter</kbd></button>
          <button type="button" disabled=${!answering} onClick=${stop}>Stop</button></div></form>
    </section>`;
  }
}

function message({ role, text, calls }, at) {
  return html`<div class=${`message ${role}`} key=${at}><b>${WHO[role]}</b>
    <div class="said">${role === "tool" ? html`<pre class="code" tabindex="0">${safe(text)}</pre>` : markdown(text)}
    ${calls.length > 0 && html`<p class="dim">calls ${safe(calls.join(", "))}</p>`}</div></div>`;
}
