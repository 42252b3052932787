import { type Html, html } from '@svc/pages';
import type { ChatMessage } from '@svc/partner-sdk';
import { problemView, renderPage } from '../pages.ts';
import type { Session } from '../sessions.ts';
import type { Texts, View } from '../texts/index.ts';

export interface HomePage {
  readonly texts: Texts;
  readonly svcUserId: string;
  readonly messages: readonly ChatMessage[];
  readonly unanswered?: Session['unanswered'];
  /** The usage bars, or the reason for their absence. */
  readonly usage: Html;
  /** Result of the last request of a browser without scripts. */
  readonly notice?: Html | undefined;
  /** False if the service or the plan offers no transcription; undefined if that is unknown. */
  readonly transcribes: boolean | undefined;
}

/** Renders chat, transcription and usage. */
export const renderHomePage = (page: HomePage): string =>
  renderPage({
    texts: page.texts,
    title: page.texts.home,
    svcUserId: page.svcUserId,
    main: html`<h1 class="visually-hidden">${page.texts.home}</h1>
${page.notice}
${page.usage}
${chatSection(page)}
${transcriptionSection(page)}`,
  });

const chatSection = ({
  texts: { chat },
  messages,
  unanswered,
}: HomePage): Html => html`<section aria-labelledby="chat-title">
<h2 id="chat-title">${chat.title}</h2>
<div id="conversation" role="log" aria-live="polite" aria-labelledby="chat-title" data-empty="${chat.empty}">${messages.map((message) => messageView(message, chat.you))}${unanswered !== undefined && html`${messageView({ role: 'user', content: unanswered.message }, chat.you)}${problemView(unanswered.problem)}`}</div>
<form id="chat" method="post" action="/chat" data-you="${chat.you}" data-answering="${chat.answering}" data-silent="${chat.silent}">
<label for="message">${chat.message}</label>
<textarea id="message" name="message" rows="3" maxlength="4000" required>${unanswered?.message}</textarea>
<button>${chat.send}</button> <span class="status" role="status"></span>
</form>
</section>`;

const messageView = ({ role, content }: ChatMessage, you: string): Html =>
  html`<p class="${role}"><b>${role === 'user' ? you : 'svc'}</b> <span>${typeof content === 'string' ? content : ''}</span></p>`;

const transcriptionSection = ({
  texts: { transcription },
  transcribes,
}: HomePage): Html => html`<section aria-labelledby="transcription-title">
<h2 id="transcription-title">${transcription.title}</h2>
${transcribes === false && html`<p class="hint">${transcription.unavailable}</p>`}
<form id="transcription" method="post" action="/transcribe" enctype="multipart/form-data" data-busy="${transcription.busy}">
<label for="file">${transcription.file}</label>
<input id="file" name="file" type="file" accept="audio/*" required>
<label for="language">${transcription.language}</label>
<input id="language" name="language" pattern="[a-z]{2}" maxlength="2" autocomplete="off">
<p><button>${transcription.send}</button> <span class="status" role="status"></span></p>
</form>
</section>`;

/** Renders the page for users who are not connected. */
export const renderWelcomePage = ({ texts, serviceUrl }: View): string =>
  renderPage({
    texts,
    title: texts.welcome.title,
    main: html`<div class="welcome">
<h1>${texts.welcome.heading}</h1>
<p class="lead">${texts.welcome.lead}</p>
<p><a class="button" href="/connect">${texts.welcome.connect}</a></p>
<p class="hint">${texts.welcome.noAccount} <a href="${serviceUrl}">${texts.welcome.openService}</a></p>
<p class="hint"><a href="${new URL(texts.locale === 'it' ? '/docs/it' : '/docs', serviceUrl).href}">${texts.documentation}</a></p>
</div>`,
  });
