import type { Locale } from '@svc/contracts';
import { html } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import { isolated, messagePage, pageText, renderPage } from '../consent/index.ts';
import type { DeviceRequestRecord } from '../oidc/index.ts';
import {
  type DeviceBrowser,
  type DevicePagesDeps,
  deviceFooter,
  deviceForm,
  devicePath,
  showUserCode,
} from './device-frame.ts';

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
