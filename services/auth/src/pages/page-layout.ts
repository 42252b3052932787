import { randomBytes } from 'node:crypto';
import type { Locale } from '@svc/contracts';
import {
  defineStyle,
  type Html,
  html,
  pagePolicy,
  productMark,
  renderPage as renderDocument,
  THEME,
  trustedHtml,
} from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import { pageText } from './page-text.ts';

/** Style of all pages: one centered card. */
const PAGE_STYLE = defineStyle(
  THEME,
  `
body{padding:1.5rem 1rem;align-items:center;justify-content:center}
header{margin-bottom:1rem}
main{--inset:1.75rem;width:100%;max-width:27.5rem;padding:var(--inset);background:var(--surface);border:1px solid var(--line);border-radius:1rem;box-shadow:var(--shadow)}
@media (max-width:26rem){body{padding:1rem .75rem}main{--inset:1.25rem}}
h2{font-size:.9375rem;margin:1.25rem 0 .25rem}
p{margin:.375rem 0}.soft{color:var(--text-soft);font-size:.9375rem}.wrap{overflow-wrap:anywhere}strong{font-weight:var(--weight-strong)}.soft strong{color:var(--text)}
.proof{font-size:.9375rem}.unproven.soft strong{color:var(--warn)}.proof svg{width:1.25rem;height:1.25rem;margin-right:.375rem;vertical-align:-.25rem;color:var(--accent)}
.parties{display:flex;align-items:center;gap:.625rem;margin-bottom:1rem;color:var(--line-strong)}
.parties>*{width:3.5rem;height:3.5rem;border-radius:.875rem;flex:none}.parties img{object-fit:contain;background:var(--surface-sunken);border:1px solid var(--line)}.parties .between{width:1.5rem;height:1.5rem}
.who{display:flex;flex-wrap:wrap;gap:0 .75rem;align-items:baseline;justify-content:space-between;margin:1rem 0 0;padding:.5rem .75rem;background:var(--surface-sunken);border-radius:.625rem;font-size:.9375rem}
ul{list-style:none;margin:.25rem 0 0;padding:0}
li{display:grid;grid-template-columns:1.25rem 1fr;gap:0 .625rem;padding:.5rem 0}li svg{width:1.25rem;height:1.25rem;margin-top:.125rem;color:var(--accent)}li .no{color:var(--text-soft)}li span{grid-column:2}li.never{padding:.25rem 0}.faults li{display:block;padding:.25rem 0}
.pays{margin:.75rem 0 0;padding:.75rem;background:var(--accent-soft);border-radius:.625rem;font-size:.9375rem}.pays strong{display:block}
label{display:block;font-size:.9375rem;font-weight:var(--weight-medium);margin:1rem 0 .25rem}
input{width:100%;min-height:2.75rem;font:inherit;color:inherit;background:var(--surface);padding:.5rem .75rem;border:1px solid var(--line-strong);border-radius:.5rem}
select{width:100%;min-height:2.75rem;font:inherit;color:inherit;background:var(--surface);padding:.5rem .75rem;border:1px solid var(--line-strong);border-radius:.5rem}
.budget{display:flex;flex-wrap:wrap;gap:0 .625rem;align-items:end}.budget>div{flex:1 1 9rem}.budget label{margin-top:.5rem}
label.check{font-weight:400;display:flex;gap:.5rem;align-items:baseline}label.check input{width:auto;min-height:0;flex:none;margin:0}
input[aria-invalid=true]{border-color:var(--bad)}
.hint{color:var(--text-soft);font-size:.875rem;margin:.25rem 0 0}
button{width:100%;margin-top:1.25rem}
button.second{margin-top:.625rem}
button.link[hidden]{display:none}.revealable{position:relative}.revealable:has(button:not([hidden])) input{padding-right:5.5rem}.revealable button.link{position:absolute;top:0;right:0;height:2.75rem;margin:0;padding:0 .75rem;text-decoration:none;font-weight:var(--weight-medium)}
button.link{padding:.125rem 0;margin:0;text-decoration:underline;font-weight:400}
.choice{display:flex;flex-wrap:wrap;gap:.625rem;margin-top:1.25rem}.choice button,.choice button.second{flex:1 1 8rem;margin:0}form+p{margin-top:.375rem}
@media (min-height:34rem){html{scroll-padding-bottom:6rem}form:has(>.choice){display:contents}.choice{position:sticky;bottom:0;margin:.5rem calc(-1*var(--inset)) 0;padding:.75rem var(--inset);background:var(--surface);box-shadow:0 -1rem 1rem -.5rem var(--surface)}}
a.second{display:block;text-align:center;padding:.5625rem 1rem;border:1px solid var(--line-strong);border-radius:.5rem;color:var(--text);text-decoration:none;font-weight:var(--weight-medium);margin-top:.625rem}a.second:hover{background:var(--surface-sunken)}
fieldset.types{border:0;margin:1rem 0 0;padding:0}fieldset.types legend{font-size:.9375rem;font-weight:var(--weight-medium);padding:0}fieldset.types label.check{margin:.375rem 0}
@supports selector(:has(a)){.types .business{display:none}.types:has([value=business]:checked) .business{display:block}}
.alert{margin:1rem 0 0}.alert.near{margin:.375rem 0 0;padding:.375rem .625rem;font-size:.9375rem}
.notice{margin:1rem 0 0;padding:.5rem .75rem;background:var(--accent-soft);border-radius:.5rem}
.strength{display:grid;gap:.25rem;margin:.5rem 0 0;font-size:.875rem}.strength[hidden]{display:none}.strength-track{display:grid;grid-template-columns:repeat(4,1fr);gap:.25rem}.strength-step{height:.375rem;border-radius:1rem;background:var(--surface-sunken);box-shadow:inset 0 0 0 1px var(--line)}
.strength-verdict{font-weight:600}.strength-reason{color:var(--text-soft)}
.strength:is([data-score="0"],[data-score="1"]) .strength-step:first-child{background:var(--bad)}.strength[data-score="2"] .strength-step:nth-child(-n+2){background:var(--warn-fill)}.strength[data-score="3"] .strength-step:nth-child(-n+3),.strength[data-score="4"] .strength-step{background:var(--good)}
.visually-hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.user-code{font-size:1.75rem;letter-spacing:.08em;text-align:center;margin:1rem 0}.other{margin-top:1.25rem;text-align:center}
main footer{margin-top:1.25rem;padding-top:.875rem;border-top:1px solid var(--line);display:flex;flex-wrap:wrap;gap:.25rem 1rem;font-size:.9375rem}main footer [hreflang]{margin-left:auto}
@media (forced-colors:active){.who,.pays,.strength-step{border:1px solid}}
`,
);

const NONCE_BYTES = 18;

export interface Page {
  readonly locale: Locale;
  readonly title: string;
  readonly content: Html;
  /** Another source that the page's forms may lead to. */
  readonly formTarget?: string | undefined;
  /** Inline script of the page. It may access nothing but the page. */
  readonly script?: string | undefined;
  /** Path of an optional module. It may start workers of this origin. */
  readonly modulePath?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default: `no-referrer`. */
  readonly referrerPolicy?: 'no-referrer' | 'same-origin' | undefined;
}

type PageStatus = 200 | 400 | 422 | 429 | 503;

/** Renders a page that is not cached and cannot be framed by other sites. */
export const renderPage = (
  status: PageStatus,
  { locale, title, content, formTarget, script, modulePath, headers, referrerPolicy = 'no-referrer' }: Page,
): ReplyContent => {
  const hasScript = script !== undefined || modulePath !== undefined;
  const nonce = hasScript ? randomBytes(NONCE_BYTES).toString('base64') : undefined;
  const policy = pagePolicy(PAGE_STYLE, formTarget === undefined ? [] : [formTarget]);
  const body = html`${frame(content)}${nonce !== undefined && scriptElements(nonce, { script, modulePath })}`;
  return {
    status,
    contentType: 'text/html; charset=utf-8',
    body: renderDocument({ locale, title, style: PAGE_STYLE, body }),
    headers: {
      ...headers,
      'cache-control': 'no-store',
      'content-language': locale,
      'content-security-policy': nonce === undefined ? policy : `${policy}; ${scriptSources(nonce, modulePath)}`,
      'referrer-policy': referrerPolicy,
      'x-frame-options': 'DENY',
      // One address serves two languages, and a page belongs to one person.
      vary: 'Cookie, Accept',
    },
  };
};

const scriptSources = (nonce: string, modulePath: string | undefined): string =>
  `script-src 'nonce-${nonce}'${modulePath === undefined ? '' : "; worker-src 'self'"}`;

const scriptElements = (nonce: string, { script, modulePath }: Pick<Page, 'script' | 'modulePath'>): Html =>
  html`${script !== undefined && html`\n<script nonce="${nonce}">${trustedHtml(script)}</script>`}${
    modulePath !== undefined && html`\n<script nonce="${nonce}" type="module" src="${modulePath}"></script>`
  }`;

const frame = (content: Html): Html => html`<header>${productMark()}<span>svc</span></header>
<main>
${content}
</main>`;

interface Field {
  readonly name: string;
  readonly label: string;
  readonly type: 'email' | 'password' | 'text';
  readonly autocomplete: string;
  readonly value?: string;
  readonly isFirst?: boolean;
  readonly isInvalid?: boolean;
  readonly isOptional?: boolean;
  readonly error?: string | undefined;
  readonly lengthMin?: number;
  readonly hint?: string;
  /** Words of a button that shows a password. Without the script there is none. */
  readonly reveal?: { readonly show: string; readonly hide: string };
}

/** Shows a password on request, and hides it before its form is sent, so that no browser keeps it as ordinary text. */
export const REVEAL_SCRIPT = `
for (const button of document.querySelectorAll('button[data-hide]')) {
  const input = document.getElementById(button.getAttribute('aria-controls'));
  const show = button.textContent;
  const set = (isShown) => {
    input.type = isShown ? 'text' : 'password';
    button.textContent = isShown ? button.dataset.hide : show;
  };
  button.hidden = false;
  button.addEventListener('click', () => set(input.type === 'password'));
  input.form.addEventListener('submit', () => set(false));
}
`;

/** Renders a labeled input with its error. */
export const field = (options: Field): Html => {
  const { name, error } = options;
  const isInvalid = options.isInvalid === true || error !== undefined;
  const errorId = error === undefined ? 'form-error' : `${name}-error`;
  const described = [options.hint === undefined ? undefined : `${name}-hint`, isInvalid ? errorId : undefined].filter(
    (id) => id !== undefined,
  );
  const input = html`<input id="${name}" name="${name}" type="${options.type}" autocomplete="${options.autocomplete}"${[
    options.value === undefined ? undefined : html` value="${options.value}"`,
    options.isOptional === true ? undefined : html` required`,
    options.lengthMin === undefined ? undefined : html` minlength="${options.lengthMin}" maxlength="128"`,
    options.type === 'email' ? html` maxlength="254"` : undefined,
    // Some browsers send the text that they check to a service, also that of a password which is shown.
    options.type === 'text' ? undefined : html` spellcheck="false" autocapitalize="none"`,
    isInvalid ? html` aria-invalid="true"` : undefined,
    described.length > 0 ? html` aria-describedby="${described.join(' ')}"` : undefined,
    options.isFirst === true ? html` autofocus` : undefined,
  ]}>`;
  return html`
<label for="${name}">${options.label}</label>
${options.reveal === undefined ? input : revealable(input, name, options.reveal)}
${options.hint === undefined ? undefined : html`<p class="hint" id="${name}-hint">${options.hint}</p>`}
${error === undefined ? undefined : html`<p class="alert near" role="alert" id="${errorId}">${error}</p>`}`;
};

const revealable = (input: Html, name: string, { show, hide }: NonNullable<Field['reveal']>): Html =>
  html`<div class="revealable">${input}<button class="link" type="button" aria-controls="${name}" data-hide="${hide}" hidden>${show}</button></div>`;

/** Redirects with 303, so that the browser follows with GET and does not resend the form (RFC 9700 section 4.12). */
export const seeOther = (location: string): ReplyContent => ({ status: 303, headers: { location } });

interface Message {
  readonly title: string;
  readonly lines: readonly string[];
  /** Faults for the app's developers. */
  readonly faults?: readonly string[];
  readonly status?: PageStatus;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Renders a page of a few lines. */
export const messagePage = (locale: Locale, { title, lines, faults, status = 400, headers }: Message): ReplyContent => {
  const content = html`<h1>${title}</h1>${lines.map((line) => html`<p>${line}</p>`)}
${faults === undefined ? undefined : html`<ul class="soft faults" lang="en">${faults.map((fault) => html`<li class="wrap">${fault}</li>`)}</ul>`}`;
  return renderPage(status, { locale, title, content, headers });
};

/** Renders the refusal of a form that was not made for this browser. */
export const refusedFormPage = (locale: Locale): ReplyContent => {
  const text = pageText(locale);
  return messagePage(locale, { title: text.errorTitle, lines: [text.formRefused, text.formHint] });
};

/** Renders the page for a decision that did not reach billing. Nothing has changed. */
export const unavailablePage = (locale: Locale): ReplyContent => {
  const text = pageText(locale);
  return messagePage(locale, { title: text.errorTitle, lines: [text.unavailable], status: 503 });
};
