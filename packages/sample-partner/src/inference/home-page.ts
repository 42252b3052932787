import type { ChatMessage } from '@svc/partner-sdk';
import { type Html, html, renderPage } from '../pages/index.ts';

/** What the page of a connected user shows. */
export interface HomePage {
  readonly svcUserId: string;
  readonly messages: readonly ChatMessage[];
  /** The bars, or why there are none. */
  readonly usage: Html;
  /** What there is to say of the last request of a browser without scripts. */
  readonly notice?: Html | undefined;
  /** False where the service or the plan does not transcribe; undefined where that could not be asked. */
  readonly transcribes: boolean | undefined;
}

/** Chat, transcription and usage. */
export const renderHomePage = ({ svcUserId, messages, usage, notice, transcribes }: HomePage): string =>
  renderPage({
    title: 'Home',
    svcUserId,
    main: html`<h1>Hello</h1>
${notice}
${usage}
<section aria-labelledby="chat-title">
<h2 id="chat-title">Chat</h2>
<div id="conversation" role="log" aria-live="polite" aria-labelledby="chat-title">${messages.map(messageView)}</div>
<form id="chat" method="post" action="/chat">
<label for="message">Your message</label>
<textarea id="message" name="message" rows="3" maxlength="4000" required></textarea>
<button>Send</button> <span class="status" role="status"></span>
</form>
</section>
<section aria-labelledby="transcription-title">
<h2 id="transcription-title">Transcription</h2>
${transcribes === false && html`<p class="hint">Transcription is not part of your plan, or not set up at the service. Trying costs nothing.</p>`}
<form id="transcription" method="post" action="/transcribe" enctype="multipart/form-data" data-busy="Transcribing…">
<label for="file">Audio file, at most 25 MB</label>
<input id="file" name="file" type="file" accept="audio/*" required>
<label for="language">Language, two letters, if you know it</label>
<input id="language" name="language" pattern="[a-z]{2}" maxlength="2" size="4" autocomplete="off">
<button>Transcribe</button> <span class="status" role="status"></span>
</form>
</section>`,
  });

const messageView = ({ role, content }: ChatMessage): Html =>
  html`<p class="${role}"><b>${role === 'user' ? 'You' : 'svc'}</b> <span>${typeof content === 'string' ? content : ''}</span></p>`;

/** What somebody sees who is not connected. */
export const renderWelcomePage = (serviceUrl: string): string =>
  renderPage({
    title: 'Welcome',
    main: html`<h1>Bring your own subscription</h1>
<p>This app has no AI of its own. Connect it to your account, and it chats and transcribes on your subscription, which you can end at any time.
It never sees your password.</p>
<p><a class="button" href="/connect">Connect your account</a></p>
<p class="hint">You have no account yet? <a href="${serviceUrl}">Open the service</a>, sign up and choose a plan; locally, payments are played.</p>`,
  });

/** What everybody sees until the app is registered. */
export const renderSetupPage = (problem: string | undefined): string =>
  renderPage({
    title: 'Starting',
    refreshSeconds: 2,
    main: html`<h1>One moment</h1>
<p role="status">This app is being registered at the service. The page goes on by itself.</p>
${problem !== undefined && html`<p class="problem" role="alert">It does not work yet: ${problem}. It is tried again and again.</p>`}`,
  });
