// A log that follows its job: server-sent events, resumed at the last byte, polling where a stream does not hold.
//
// Stream (data-stream-url?offset=N): each event's data is text, its id the offset after it; "end" says that nothing
// more will come. Poll (data-poll-url?offset=N): the bytes from N as text, the next offset in X-Next-Offset, and
// X-Log-Complete: true when nothing more will come.
(() => {
  const KEEP_CHARACTERS = 2_000_000;
  const POLL_MS = 3000;
  const STREAM_TRIES = 3;
  const TIME_ZONE = document.documentElement.dataset.zone || undefined;

  class Log {
    constructor(root) {
      this.root = root;
      this.text = root.querySelector("[data-log-text]");
      this.state = root.querySelector("[data-log-state]");
      this.time = root.querySelector("[data-log-time]");
      this.follow = root.querySelector("[data-log-follow]");
      this.offset = Number(root.dataset.offset) || 0;
      this.failures = 0;
      this.follow.addEventListener("click", () => this.setFollow(this.follow.getAttribute("aria-pressed") !== "true"));
      this.text.addEventListener("scroll", () => this.onScroll());
      this.scrollDown();
      this.stream();
    }

    get isFollowing() { return this.follow.getAttribute("aria-pressed") === "true"; }

    setFollow(value) {
      this.follow.setAttribute("aria-pressed", String(value));
      this.scrollDown();
    }

    // Scrolling up lets go of the end; scrolling back to it takes hold again.
    onScroll() {
      const isAtEnd = this.text.scrollHeight - this.text.scrollTop - this.text.clientHeight < 24;
      if (isAtEnd !== this.isFollowing) this.follow.setAttribute("aria-pressed", String(isAtEnd));
    }

    scrollDown() {
      if (this.isFollowing) this.text.scrollTop = this.text.scrollHeight;
    }

    append(chunk, nextOffset) {
      if (Number.isFinite(nextOffset)) {
        if (nextOffset <= this.offset) return this.mark("live"); // seen already: sent again after a reconnection
        this.offset = nextOffset;
      }
      if (chunk) {
        this.text.append(document.createTextNode(chunk));
        let length = this.text.textContent.length;
        while (length > KEEP_CHARACTERS && this.text.childNodes.length > 1) {
          length -= this.text.firstChild.data.length;
          this.text.firstChild.remove();
        }
        this.scrollDown();
      }
      this.mark("live");
    }

    mark(state) {
      const words = { live: "wordLive", ended: "wordEnded", lost: "wordLost", waiting: "wordWaiting" };
      this.state.textContent = this.root.dataset[words[state]];
      this.state.parentElement.classList.toggle("is-stale", state === "lost");
      if (state === "live" || state === "ended") {
        const now = new Date();
        this.time.dateTime = now.toISOString();
        this.time.textContent = now.toLocaleTimeString("en-GB", { hour12: false, timeZone: TIME_ZONE });
      }
    }

    url(base) {
      const url = new URL(base, location.href);
      url.searchParams.set("offset", String(this.offset));
      return url;
    }

    // Each connection states its offset in the address; the browser's own retry adds Last-Event-ID.
    stream() {
      if (!this.root.dataset.streamUrl || !globalThis.EventSource) return this.poll();
      const source = new EventSource(this.url(this.root.dataset.streamUrl));
      this.source = source;
      source.onopen = () => { this.failures = 0; this.mark("live"); };
      source.onmessage = (event) => this.append(event.data, event.lastEventId === "" ? NaN : Number(event.lastEventId));
      source.addEventListener("alive", () => this.mark("live"));
      source.addEventListener("end", () => { source.close(); this.mark("ended"); });
      source.onerror = () => {
        this.mark("lost");
        this.failures += 1;
        if (source.readyState !== EventSource.CLOSED && this.failures < STREAM_TRIES) return;
        source.close();
        this.poll();
      };
    }

    async poll() {
      if (!this.root.isConnected) return;
      if (!this.root.dataset.pollUrl) return this.mark("ended"); // given whole
      try {
        const answer = await fetch(this.url(this.root.dataset.pollUrl), { credentials: "same-origin" });
        if (!answer.ok) throw new Error(String(answer.status));
        this.append(await answer.text(), Number(answer.headers.get("X-Next-Offset") ?? NaN));
        if (answer.headers.get("X-Log-Complete") === "true") return this.mark("ended");
      } catch {
        this.mark("lost");
      }
      setTimeout(() => this.poll(), POLL_MS);
    }

    stop() {
      this.source?.close();
    }
  }

  const logs = new Set();
  const start = () => {
    for (const root of document.querySelectorAll("[data-log]:not([data-started])")) {
      root.dataset.started = "yes";
      logs.add(new Log(root));
    }
  };
  addEventListener("pagehide", () => logs.forEach((log) => log.stop()));
  document.addEventListener("htmx:afterSettle", start);
  start();
})();
