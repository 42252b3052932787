import { type Html, html } from '@svc/pages';
import { type ChatMessage, ConnectionEndedError, remainingBudgetMicros, type Usage } from '@svc/partner-sdk';
import type { Response } from 'express';
import type { Partner } from '../connect.ts';
import { describeProblem, problemView, renderPage } from '../pages.ts';
import type { Session } from '../sessions.ts';
import type { Texts } from '../texts/en.ts';
import type { View } from '../texts/view.ts';
import { formatTime } from '../texts/view.ts';

interface HomePage {
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

const MICROS_PER_UNIT = 1_000_000;

const MICROS_PER_CENT = 10_000;

type Window = NonNullable<Usage['weekly']>;
type Money = (micros: number) => string;

/**
 * Renders what the user's limit leaves to this app, and the shared limits of the subscription as bars. The page's
 * script replaces `#usage` after each request.
 */
export const usageView = (usage: Usage, { texts, serviceUrl }: View, currency: string): Html => {
  const plans = new URL('/plans', serviceUrl).href;
  const isUsable = USABLE.has(usage.status);
  const money: Money = (micros) => formatMoney(micros, currency, texts.locale);
  return html`<section id="usage" aria-labelledby="usage-title">
<h2 id="usage-title">${texts.usage.title}${isUsable && usage.plan !== null && html`: ${usage.plan.name}`}</h2>
${
  isUsable && usage.weekly !== null && usage.monthly !== null
    ? html`${usage.status === 'past_due' && html`<p class="problem">${texts.usage.overdue} <a href="${plans}">${texts.usage.repair}</a></p>`}
${budgetView(usage, texts, money)}
<p><a id="manage" href="${new URL('/connections', serviceUrl).href}">${texts.usage.manage}</a></p>
<div class="bars">${bar('weekly', usage.weekly, { texts, money })}${bar('monthly', usage.monthly, { texts, money })}</div>
<p class="hint">${texts.usage.shared(usage.pending_requests, usage.max_pending_requests)}</p>`
    : inactiveView(usage.status, texts, plans)
}
</section>`;
};

type Status = Usage['status'];

/** Statuses in which the service answers requests. A plan whose payment failed works for a few days more. */
const USABLE: ReadonlySet<Status> = new Set<Status>(['active', 'trialing', 'past_due']);

const inactiveView = (status: Status, { usage: texts }: Texts, plans: string): Html => {
  const reason = reasonOf(status);
  const link = reason === 'unpaid' || reason === 'paused' ? texts.repair : texts.choose;
  return html`<p class="problem">${texts.inactive[reason]} <a href="${plans}">${link}</a>${texts.thenReturn}</p>`;
};

const reasonOf = (status: Status): keyof Texts['usage']['inactive'] => {
  switch (status) {
    case 'incomplete':
      return 'unpaid';
    case 'paused':
      return 'paused';
    case 'canceled':
    case 'unpaid':
    case 'incomplete_expired':
      return 'ended';
    default:
      return 'none';
  }
};

const budgetView = (usage: Usage, { usage: texts }: Texts, money: Money): Html => {
  const { limit_micros: limit, period, paused, used_micros: used } = usage.app;
  const left = remainingBudgetMicros(usage);
  return html`<p id="app-budget" class="budget">${
    limit === null || left === undefined || period === null
      ? texts.noLimit(money(used))
      : texts.left[period](money(left), money(limit))
  }${paused && html` <strong>${texts.paused}</strong>`}</p>`;
};

const bar = (
  name: 'weekly' | 'monthly',
  window: Window,
  { texts: { usage, locale }, money }: { texts: Texts; money: Money },
): Html => html`<div class="bar">
<label for="${name}-use">${name === 'weekly' ? usage.week : usage.month}: ${usage.used(window.used_percent)}</label>
<progress id="${name}-use" max="${window.limit_micros}" value="${Math.min(window.used_micros, window.limit_micros)}"></progress>
<span class="hint"><span id="${name}-micros" data-micros="${window.used_micros}">${money(window.used_micros)}</span> ${usage.of} ${money(window.limit_micros)};
${usage.resets} <time datetime="${window.resets_at}">${formatTime(new Date(window.resets_at), locale)}</time></span>
</div>`;

/** Formats micros in whole cents, rounded down. An amount below a cent keeps its digits. */
const formatMoney = (micros: number, currency: string, locale: string): string => {
  const isSmall = micros > 0 && micros < MICROS_PER_CENT;
  const shown = isSmall ? micros : Math.floor(micros / MICROS_PER_CENT) * MICROS_PER_CENT;
  const fraction = isSmall ? 6 : 2;
  const options = { style: 'currency', currency, minimumFractionDigits: 2, maximumFractionDigits: fraction } as const;
  return new Intl.NumberFormat(locale, options).format(shown / MICROS_PER_UNIT);
};

/** Short, so that the page loads even if the service is slow. */
const READ_TIMEOUT_MS = 5_000;

/** A connected user. */
export interface ConnectedVisitor {
  readonly partner: Partner;
  readonly session: Session;
  readonly svcUserId: string;
}

/** Sends the page of a connected user, or the welcome page if the connection has ended. */
export const sendHome = async (
  response: Response,
  visitor: ConnectedVisitor,
  { view, notice }: { view: View; notice?: Html },
): Promise<void> => {
  const { partner, session, svcUserId } = visitor;
  const client = partner.clientOf(svcUserId);
  const [usage, capabilities] = await Promise.allSettled([
    client.usage({ timeoutMs: READ_TIMEOUT_MS }),
    client.capabilities({ timeoutMs: READ_TIMEOUT_MS }),
  ]);
  if (usage.status === 'rejected' && usage.reason instanceof ConnectionEndedError) {
    session.svcUserId = undefined;
    response.send(renderWelcomePage(view));
    return;
  }
  const shown =
    usage.status === 'fulfilled'
      ? usageView(usage.value, view, partner.currency)
      : html`<section id="usage">${problemView(describeProblem(usage.reason, view))}</section>`;
  const transcribes = capabilities.status === 'fulfilled' ? capabilities.value.services.audio_transcription : undefined;
  response.send(
    renderHomePage({
      texts: view.texts,
      svcUserId,
      messages: session.messages,
      unanswered: session.unanswered,
      usage: shown,
      notice,
      transcribes,
    }),
  );
};
