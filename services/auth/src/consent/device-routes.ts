import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Locale, routes } from '@svc/contracts';
import { AppError, type Binding, bind, type ReplyContent } from '@svc/service-kit';
import type { VerificationDeps } from '../accounts/index.ts';
import { type DeviceRequestRecord, findDeviceRequest, findDeviceRequestByUserCode } from '../oauth/index.ts';
import { ensureBrowserId, preferredLocale } from '../pages/index.ts';
import { clearedSessionCookies, endSession, findBrowserSession, readPagesCookie } from '../sessions/index.ts';
import { showDeviceConsent, submitDeviceDecision } from './decide-device.ts';
import {
  codePage,
  confirmPage,
  type DevicePagesDeps,
  normalizeUserCode,
  readDeviceForm,
  tooManyCodesPage,
  toSignIn,
  wrongCodePage,
} from './device-page.ts';
import { invalidQueryPage, prefersHtml } from './fault-pages.ts';

/** Eight letters without vowels, so that they form no words (RFC 8628 section 6.1). */
const USER_CODE = /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/;

type NamedRequest = { readonly found: DeviceRequestRecord | undefined } | { readonly reply: ReplyContent };

/** Finds the pending request that a person names by its code. A wrong code counts as a guess of this source. */
const findNamedRequest = async (
  deps: Pick<DevicePagesDeps, 'database' | 'guessLimit'>,
  { typed, source, locale }: { typed: string; source: string; locale: Locale },
): Promise<NamedRequest> => {
  const userCode = normalizeUserCode(typed);
  try {
    const found = await deps.guessLimit.look(source, async () =>
      USER_CODE.test(userCode) ? await findDeviceRequestByUserCode(deps.database, userCode) : undefined,
    );
    return { found };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'too_many_attempts') throw error;
    return { reply: tooManyCodesPage(locale, Number(error.headers['retry-after'])) };
  }
};

interface PageRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly clientAddress: string;
}

/** Binds the pages on which people connect a device (RFC 8628 section 3.3). They need no script. */
export const devicePageRoutes = (deps: DevicePagesDeps & VerificationDeps): Binding[] => [
  bind(
    routes.showDevicePage,
    ({ query, req, res, clientAddress }) => {
      const locale = query.locale ?? preferredLocale(req);
      return showDevicePage(deps, { req, res, clientAddress }, { typed: query.user_code, locale });
    },
    (issues, req) => (prefersHtml(req) ? invalidQueryPage(preferredLocale(req), issues) : undefined),
  ),
  bind(routes.submitDeviceCode, ({ req, clientAddress }) => submitDeviceCode(deps, { req, source: clientAddress })),
  bind(routes.submitDeviceDecision, ({ req, clientAddress }) =>
    submitDeviceDecision(deps, { req, source: clientAddress }),
  ),
  bind(routes.submitDeviceSignOut, async ({ req, res }) => {
    const read = await readDeviceForm(deps, req);
    if (!read.isTaken) return read.reply;
    await endSession(deps, read.browser.session.session.id);
    res.appendHeader('set-cookie', clearedSessionCookies(deps.publicBaseUrl));
    const { locale, device } = read.asked;
    const request =
      device === undefined ? undefined : await findDeviceRequest(deps.database, Buffer.from(device, 'base64url'));
    return toSignIn(locale, request?.userCode);
  }),
];

/** Asks to sign in, then for the code, or shows the one of a complete address. A wrong one counts, signed in or not. */
const showDevicePage = async (
  deps: DevicePagesDeps,
  { req, res, clientAddress: source }: PageRequest,
  { typed, locale }: { typed: string | undefined; locale: Locale },
): Promise<ReplyContent> => {
  const named = typed === undefined ? undefined : await findNamedRequest(deps, { typed, source, locale });
  if (named !== undefined && 'reply' in named) return named.reply;
  const session = await findBrowserSession(deps, readPagesCookie(req.headers.cookie, deps.publicBaseUrl));
  const isWrong = named !== undefined && named.found === undefined;
  if (session === undefined) return isWrong ? wrongCodePage(locale) : toSignIn(locale, named?.found?.userCode);
  const browser = { browserId: ensureBrowserId(req, res, deps.publicBaseUrl), session };
  return named?.found === undefined
    ? codePage(deps, browser, { locale, isWrong })
    : confirmPage(deps, browser, { locale, request: named.found });
};

/** Shows the consent page for a code that was typed, or for the one of a complete address once it is confirmed. */
const submitDeviceCode = async (
  deps: DevicePagesDeps,
  { req, source }: { req: IncomingMessage; source: string },
): Promise<ReplyContent> => {
  const read = await readDeviceForm(deps, req);
  if (!read.isTaken) return read.reply;
  const { browser, fields } = read;
  const { locale, device } = read.asked;
  const named =
    device === undefined
      ? await findNamedRequest(deps, { typed: fields.get('user_code') ?? '', source, locale })
      : { found: await findDeviceRequest(deps.database, Buffer.from(device, 'base64url')) };
  if ('reply' in named) return named.reply;
  return named.found === undefined
    ? codePage(deps, browser, { locale, isWrong: true })
    : await showDeviceConsent(deps, { locale, browser, request: named.found });
};
