// A list of rows of one height, of which only the visible ones exist: a thousand approvals, a long diff, a stream.
import { Component, createRef, html } from "/assets/core/html.js";

const BEYOND = 12; // rows above and below what is visible

export class VirtualList extends Component {
  constructor(props) {
    super(props);
    this.state = { top: 0, high: 600 };
    this.box = createRef();
    this.onScroll = this.onScroll.bind(this);
  }

  componentDidMount() {
    this.watch = new ResizeObserver(() => this.measure());
    this.watch.observe(this.box.current);
    this.measure();
    this.follow();
  }

  componentWillUnmount() {
    this.watch.disconnect();
  }

  componentDidUpdate(before) {
    const { shown, rowHeight } = this.props;
    const box = this.box.current;
    if (shown !== undefined && shown !== before.shown && shown >= 0) {
      if (shown * rowHeight < box.scrollTop) box.scrollTop = shown * rowHeight;
      else if ((shown + 1) * rowHeight > box.scrollTop + box.clientHeight) {
        box.scrollTop = (shown + 1) * rowHeight - box.clientHeight;
      }
    }
    this.follow();
  }

  follow() {
    const box = this.box.current;
    if (this.props.follow) box.scrollTop = box.scrollHeight;
  }

  measure() {
    const { scrollTop, clientHeight } = this.box.current;
    if (clientHeight !== this.state.high || scrollTop !== this.state.top) {
      this.setState({ top: scrollTop, high: clientHeight });
    }
  }

  onScroll() {
    this.measure();
    this.props.onScrolled?.(this.box.current);
  }

  render({ count, rowHeight, row, label, role = "region", className = "", itemsClass = "", most, ...rest }) {
    const first = Math.max(0, Math.floor(this.state.top / rowHeight) - BEYOND);
    const last = Math.min(count, Math.ceil((this.state.top + this.state.high) / rowHeight) + BEYOND);
    const rows = [];
    for (let index = first; index < last; index += 1) rows.push(row(index));
    const { shown, follow, onScrolled, ...given } = rest;
    const high = `${count * rowHeight}px`;
    const style = most ? { height: `min(${high}, ${most})` } : undefined;
    return html`<div ref=${this.box} class=${`virtual ${className}`} onScroll=${this.onScroll} tabindex="0"
      role=${role} aria-label=${label} style=${style} ...${given}>
      <div class="virtual-all" style=${{ height: high }} role="presentation">
        <div class=${`virtual-rows ${itemsClass}`} role="presentation"
          style=${{ transform: `translateY(${first * rowHeight}px)` }}>${rows}</div>
      </div>
    </div>`;
  }
}
