import type { Locale } from '@svc/contracts';
import { type Html, html } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import {
  type ConsoleFrameDeps,
  consoleFrame,
  field,
  isolated,
  pageText,
  renderPage,
  type SignInFrame,
} from '../pages/index.ts';
import type { PendingLink } from './sso-cookie.ts';

const en = {
  title: (provider: string) => `Sign in with ${provider}?`,
  lead: (provider: string) =>
    `You already have an svc account with this address. Prove that it is yours, and you can sign in to it with ${provider} from now on.`,
  account: 'Account',
  withPassword: 'Continue',
  mailInstead: 'Send me a link by mail instead',
  mailOnly: 'Send me a link by mail',
  mailedTitle: 'Check your mail',
  mailed: 'We have sent a link to this address. It works once, within 30 minutes. Then sign in again.',
  confirmTitle: (provider: string) => `Sign in with ${provider} from now on?`,
  confirmLead: 'Continue only if you have just asked for this link.',
  confirm: 'Yes, link the account',
  doneTitle: 'The account is linked',
  done: (provider: string) => `From now on you can sign in with ${provider}.`,
  linkVoid: 'This link was used before or has expired. Sign in again to get a new one.',
  taken: 'This identity already belongs to another svc account.',
  overTitle: 'That took too long',
  over: 'Sign in again to start anew.',
};

type LinkText = typeof en;

const it: LinkText = {
  title: (provider) => `Vuoi accedere con ${provider}?`,
  lead: (provider) =>
    `Hai già un account svc con questo indirizzo. Dimostra che è tuo e d’ora in poi potrai accedere con ${provider}.`,
  account: 'Account',
  withPassword: 'Continua',
  mailInstead: 'Mandami invece un link per email',
  mailOnly: 'Mandami un link per email',
  mailedTitle: 'Controlla la posta',
  mailed: 'Abbiamo mandato un link a questo indirizzo. Vale una volta, per 30 minuti. Poi accedi di nuovo.',
  confirmTitle: (provider) => `Vuoi accedere d’ora in poi con ${provider}?`,
  confirmLead: 'Continua solo se hai appena chiesto questo link.',
  confirm: 'Sì, collega l’account',
  doneTitle: 'L’account è collegato',
  done: (provider) => `D’ora in poi puoi accedere con ${provider}.`,
  linkVoid: 'Questo link è già stato usato o è scaduto. Accedi di nuovo per averne un altro.',
  taken: 'Questa identità appartiene già a un altro account svc.',
  overTitle: 'È passato troppo tempo',
  over: 'Accedi di nuovo per ricominciare.',
};

const texts: Readonly<Record<Locale, LinkText>> = { en, it };

/** Returns the texts of the pages that link an identity, in one language. */
const linkText = (locale: Locale): LinkText => texts[locale];

const LINK_PATH = '/sign-in/link';

/** Surroundings of the pages. */
export interface LinkFrame {
  readonly locale: Locale;
  /** Name of the OpenID provider. */
  readonly provider: string;
}

const form = ({ locale }: LinkFrame, action: string, fields: Html): Html => html`
<form method="post" action="${LINK_PATH}${action}">
<input type="hidden" name="locale" value="${locale}">
${fields}
</form>`;

const footer = ({ locale }: LinkFrame, path: string, query: Readonly<Record<string, string>> = {}): Html => {
  const other = locale === 'it' ? 'en' : 'it';
  const url = `${LINK_PATH}${path}?${new URLSearchParams({ ...query, locale: other })}`;
  return html`<footer><a href="${url}" hreflang="${other}" lang="${other}">${pageText(locale).otherLanguage}</a></footer>`;
};

const render = (frame: LinkFrame, title: string, content: Html, status: 200 | 400 = 200): ReplyContent =>
  renderPage(status, {
    locale: frame.locale,
    title,
    content: html`<h1>${title}</h1>${content}`,
    referrerPolicy: 'same-origin',
  });

/** Renders the page that asks for a proof of the account: its password, or a mailed link. */
export const linkPage = (
  frame: LinkFrame,
  { link, hasPassword, error }: { link: PendingLink; hasPassword: boolean; error?: string | undefined },
): ReplyContent => {
  const text = linkText(frame.locale);
  const { password } = pageText(frame.locale);
  const isInvalid = error !== undefined;
  const passwordField = field({
    name: 'password',
    label: password,
    type: 'password',
    autocomplete: 'current-password',
    isFirst: true,
    isInvalid,
  });
  const mailButton = hasPassword
    ? html`<button class="second" type="submit">${text.mailInstead}</button>`
    : html`<button type="submit">${text.mailOnly}</button>`;
  const content = html`
<p class="soft wrap">${text.lead(frame.provider)}</p>
<div class="who"><span class="wrap">${text.account}: <strong>${isolated(link.email)}</strong></span></div>
${isInvalid ? html`<p class="alert" role="alert" id="form-error">${error}</p>` : undefined}
${hasPassword ? form(frame, '', html`${passwordField}<button type="submit">${text.withPassword}</button>`) : undefined}
${form(frame, '/mail', mailButton)}
<p class="other"><a href="/sign-in">${pageText(frame.locale).otherAccount}</a></p>
${footer(frame, '')}`;
  return render(frame, text.title(frame.provider), content);
};

/** Returns the surroundings of the form for the second factor: its answer links the identity too. */
export const linkSecondFactorFrame = (deps: ConsoleFrameDeps, frame: LinkFrame, link: PendingLink): SignInFrame => ({
  ...consoleFrame({ locale: frame.locale, next: link.returnTo }, deps, 'sign-in'),
  form: (_name, fields) => form(frame, '/second-factor', fields),
  lead: link.email,
});

/** Renders that a link was mailed, if the account still has the address. */
export const mailedPage = (frame: LinkFrame, link: PendingLink): ReplyContent => {
  const text = linkText(frame.locale);
  return render(
    frame,
    text.mailedTitle,
    html`<p class="wrap"><strong>${isolated(link.email)}</strong></p><p>${text.mailed}</p>`,
  );
};

/** Renders the page of a mailed link. It changes nothing until its button is pressed, because scanners open links too. */
export const confirmPage = (frame: LinkFrame, token: string): ReplyContent => {
  const text = linkText(frame.locale);
  const fields = html`<input type="hidden" name="token" value="${token}"><button type="submit">${text.confirm}</button>`;
  const content = html`<p>${text.confirmLead}</p>${form(frame, '/confirm', fields)}${footer(frame, '/confirm', { token })}`;
  return render(frame, text.confirmTitle(frame.provider), content);
};

/** Renders the success of a mailed link, and the way to sign in. */
export const linkedPage = (frame: LinkFrame): ReplyContent => {
  const text = linkText(frame.locale);
  const { singleSignOn } = pageText(frame.locale);
  const content = html`<p>${text.done(frame.provider)}</p>
<p><a class="second" href="/v1/console/sso/start">${singleSignOn(frame.provider)}</a></p>`;
  return render(frame, text.doneTitle, content);
};

/** Renders why an identity was not linked. */
export const linkFaultPage = (frame: LinkFrame, fault: 'over' | 'void' | 'taken'): ReplyContent => {
  const text = linkText(frame.locale);
  const lines = { over: text.over, void: text.linkVoid, taken: text.taken };
  const title = fault === 'over' ? text.overTitle : pageText(frame.locale).errorTitle;
  const content = html`<p>${lines[fault]}</p><p><a class="second" href="/sign-in">${pageText(frame.locale).signIn}</a></p>`;
  return render(frame, title, content, 400);
};
