import { html } from '@svc/pages';
import { renderPage } from '../pages/index.ts';
import type { View } from '../texts/index.ts';

export interface SinglePage {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly currency: string;
  readonly view: View;
}

/** Proposed on the consent page, where the user may change or remove it. */
const LIMIT_MICROS = 500_000;

/** Renders the page of the app without a server. Its script does the rest. */
export const renderSinglePage = ({ clientId, redirectUri, currency, view }: SinglePage): string => {
  const { texts, serviceUrl } = view;
  const { chat, problem, single } = texts;
  return renderPage({
    texts,
    title: texts.singlePage,
    script: '/browser/app.js',
    main: html`<div id="single-page" data-currency="${currency}" data-locale="${texts.locale}" data-left="${single.left}" data-unlimited="${single.unlimited}" data-you="${chat.you}" data-ended="${problem.ended}" data-failed="${problem.notAnswered}" data-change="${problem.changeLimit}">
<h1>${single.heading}</h1>
<p class="lead">${single.lead}</p>
<p><svc-connect base-url="${serviceUrl.replace(/\/$/, '')}" client-id="${clientId}" redirect-uri="${redirectUri}" budget-micros="${LIMIT_MICROS}" budget-currency="${currency}" budget-period="week" resume></svc-connect></p>
<p class="hint" data-connected="no">${single.memory}</p>
<div data-connected="yes" hidden>
<p id="page-usage" class="budget" role="status"></p>
<section aria-labelledby="chat-title">
<h2 id="chat-title">${chat.title}</h2>
<div id="conversation" role="log" aria-live="polite" aria-labelledby="chat-title" data-empty="${chat.empty}"></div>
<form id="page-chat">
<label for="message">${chat.message}</label>
<textarea id="message" name="message" rows="3" maxlength="4000" required></textarea>
<button>${chat.send}</button>
</form>
</section>
</div>
</div>`,
  });
};
