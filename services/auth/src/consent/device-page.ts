import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { FORM_BYTES_MAX, type Locale, localeSchema, routes } from '@svc/contracts';
import { type Html, html } from '@svc/pages';
import { type ReplyContent, readBodyBytes } from '@svc/service-kit';
import { z } from 'zod';
import type { DeviceRequestRecord } from '../oauth/index.ts';
import {
  type FormTokens,
  isolated,
  messagePage,
  pageText,
  preferredLocale,
  readBrowserId,
  refusedFormPage,
  renderPage,
  seeOther,
} from '../pages/index.ts';
import {
  type AuthenticateSessionDeps,
  type BrowserSession,
  findBrowserSession,
  readPagesCookie,
} from '../sessions/index.ts';
import type { GuessLimit } from '../throttling.ts';
import type { OpenApprovedGrantDeps } from './decide-consent.ts';
import type { ConsentPageDeps } from './page-context.ts';

/** Part of a request that the pages and their forms carry along. */
export const askedDeviceSchema = z.object({
  locale: localeSchema,
  /** Digest of the device code, once the person has named its request. */
  device: z.base64url().optional(),
});

export type AskedDevice = z.infer<typeof askedDeviceSchema>;
type DeviceFormTokens = FormTokens<AskedDevice>;

const LETTERS_PER_GROUP = 4;

/** Returns the code as devices show it. */
const showUserCode = (code: string): string => `${code.slice(0, LETTERS_PER_GROUP)}-${code.slice(LETTERS_PER_GROUP)}`;

/** Returns the stored form of what a person has typed: in any case, with or without the dash. */
export const normalizeUserCode = (typed: string): string => typed.toUpperCase().replace(/[\s\p{Pd}]/gu, '');

/** Returns the path of the page on which people enter a code, or confirm one. */
export const devicePath = (locale: Locale, userCode?: string): string => {
  const named = userCode === undefined ? {} : { user_code: showUserCode(userCode) };
  return `${routes.showDevicePage.path}?${new URLSearchParams({ ...named, locale })}`;
};

const NONCE_BYTES = 18;

export interface DevicePagesDeps
  extends ConsentPageDeps,
    Omit<OpenApprovedGrantDeps, 'billing'>,
    AuthenticateSessionDeps {
  readonly deviceFormTokens: DeviceFormTokens;
  readonly guessLimit: GuessLimit;
  readonly isVerificationRequired: boolean;
}

/** A page in one browser and one session. */
export interface DeviceBrowser {
  readonly browserId: string;
  readonly session: BrowserSession;
}

/** Renders a form of the pages. Its hidden field names the request, and protects against CSRF. */
export const deviceForm = (
  deps: Pick<DevicePagesDeps, 'deviceFormTokens'>,
  { browserId, session }: DeviceBrowser,
  { asked, name, fields }: { asked: AskedDevice; name: '' | '/decision' | '/sign-out'; fields: Html },
): Html => {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  const context = { query: asked, browserId, sessionId: session.session.id, isPushed: false, nonce };
  return html`
<form method="post" action="${routes.showDevicePage.path}${name}">
<input type="hidden" name="request" value="${deps.deviceFormTokens.sign(context)}">
${fields}
</form>`;
};

/** Renders the footer: the link to the other language, and the page's own links. */
export const deviceFooter = (locale: Locale, userCode?: string, links: readonly (Html | undefined)[] = []): Html => {
  const other = locale === 'it' ? 'en' : 'it';
  return html`<footer>${links}<a href="${devicePath(other, userCode)}" hreflang="${other}" lang="${other}">${pageText(locale).otherLanguage}</a></footer>`;
};

/** Redirects to sign-in, which leads back here. */
export const toSignIn = (locale: Locale, userCode?: string): ReplyContent =>
  seeOther(`/sign-in?${new URLSearchParams({ next: devicePath(locale, userCode), locale })}`);

/** A form of this browser for the person shown on its page; or the refusal. */
type ReadDeviceForm =
  | {
      readonly isTaken: true;
      readonly asked: AskedDevice;
      readonly fields: URLSearchParams;
      readonly browser: DeviceBrowser;
    }
  | { readonly isTaken: false; readonly reply: ReplyContent };

/** Parses a form of the pages. After a sign-out, or a sign-in in another tab, the page asks again. */
export const readDeviceForm = async (deps: DevicePagesDeps, req: IncomingMessage): Promise<ReadDeviceForm> => {
  const fields = new URLSearchParams((await readBodyBytes(req, FORM_BYTES_MAX)).toString('utf8'));
  const browserId = readBrowserId(req, deps.publicBaseUrl);
  const read = deps.deviceFormTokens.read(fields.get('request') ?? '', browserId);
  const holdsNul = [...fields.values()].some((value) => value.includes('\0'));
  if (read === undefined || browserId === undefined || holdsNul) {
    return { isTaken: false, reply: refusedFormPage(preferredLocale(req)) };
  }
  const { query: asked, sessionId } = read.context;
  const session = await findBrowserSession(deps, readPagesCookie(req.headers.cookie, deps.publicBaseUrl));
  if (session === undefined) return { isTaken: false, reply: toSignIn(asked.locale) };
  if (session.session.id !== sessionId || read.isExpired) {
    return { isTaken: false, reply: seeOther(devicePath(asked.locale)) };
  }
  return { isTaken: true, asked, fields, browser: { browserId, session } };
};

type FormDeps = Pick<DevicePagesDeps, 'deviceFormTokens'>;

/** Renders the form for the code, or renders it again after a wrong one. It is never filled in. */
export const codePage = (
  deps: FormDeps,
  browser: DeviceBrowser,
  { locale, isWrong = false }: { locale: Locale; isWrong?: boolean },
): ReplyContent => {
  const text = pageText(locale);
  const fields = html`
<label for="user_code">${text.deviceCode}</label>
<input id="user_code" name="user_code" type="text" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="32" placeholder="XXXX-XXXX" required autofocus${isWrong ? html` aria-invalid="true" aria-describedby="form-error"` : undefined}>
<button type="submit">${text.deviceContinue}</button>`;
  const content = html`
<h1>${text.deviceTitle}</h1>
<p class="soft">${text.deviceCodeLead}</p>
${isWrong ? html`<p class="alert" role="alert" id="form-error">${text.deviceCodeWrong}</p>` : undefined}
${who(browser, locale)}
${deviceForm(deps, browser, { asked: { locale }, name: '', fields })}
${deviceFooter(locale)}`;
  return renderPage(isWrong ? 400 : 200, { locale, title: text.deviceTitle, content });
};

/** Shows the code of a complete address, to be compared with the device before anything else. */
export const confirmPage = (
  deps: FormDeps,
  browser: DeviceBrowser,
  { locale, request }: { locale: Locale; request: DeviceRequestRecord },
): ReplyContent => {
  const text = pageText(locale);
  const asked = { locale, device: request.digest.toString('base64url') };
  const fields = html`<button type="submit">${text.deviceConfirm}</button>`;
  const content = html`
<h1>${text.deviceConfirmTitle}</h1>
<p class="user-code"><strong>${showUserCode(request.userCode)}</strong></p>
<p class="soft">${text.deviceWarning}</p>
${who(browser, locale)}
${deviceForm(deps, browser, { asked, name: '', fields })}
<p class="other"><a href="${devicePath(locale)}">${text.deviceOtherCode}</a></p>
${deviceFooter(locale, request.userCode)}`;
  return renderPage(200, { locale, title: text.deviceConfirmTitle, content });
};

/** Renders the refusal of a code to a browser that is not signed in. */
export const wrongCodePage = (locale: Locale): ReplyContent => {
  const text = pageText(locale);
  return messagePage(locale, { title: text.deviceTitle, lines: [text.deviceCodeWrong] });
};

const SECONDS_PER_MINUTE = 60;

/** Renders the refusal of every code while there were too many wrong ones. */
export const tooManyCodesPage = (locale: Locale, retryAfterSeconds: number): ReplyContent => {
  const text = pageText(locale);
  return messagePage(locale, {
    title: text.errorTitle,
    lines: [text.deviceTooMany(Math.ceil(retryAfterSeconds / SECONDS_PER_MINUTE))],
    status: 429,
    headers: { 'retry-after': String(retryAfterSeconds) },
  });
};

/** Renders the end of a decision. The person goes on at the device. */
export const decidedDevicePage = (locale: Locale, decision: { approvedApp: string } | 'denied'): ReplyContent => {
  const text = pageText(locale);
  return decision === 'denied'
    ? messagePage(locale, { title: text.deviceDeniedTitle, lines: [text.deviceDenied], status: 200 })
    : messagePage(locale, {
        title: text.deviceDoneTitle,
        lines: [text.deviceDone(decision.approvedApp)],
        status: 200,
      });
};

const who = ({ session }: DeviceBrowser, locale: Locale) => html`
<p class="soft wrap">${pageText(locale).signedInAs} <strong>${isolated(session.account.email)}</strong></p>`;
