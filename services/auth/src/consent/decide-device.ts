import type { IncomingMessage } from 'node:http';
import type { Locale } from '@svc/contracts';
import { html } from '@svc/pages';
import { AppError, type ReplyContent } from '@svc/service-kit';
import { requestVerification, type VerificationDeps } from '../accounts/index.ts';
import { type AppRecord, findAppById, holdApp } from '../apps/index.ts';
import { type Origin, originOf } from '../connections/index.ts';
import {
  type DeviceRequestRecord,
  decideDeviceRequest,
  findAppOfApprovedDevice,
  findDeviceRequest,
} from '../oauth/index.ts';
import { isolated, pageText, unavailablePage } from '../pages/index.ts';
import { holdSession } from '../sessions/index.ts';
import { renderConsent } from './authorize-page.ts';
import { parseScope } from './authorize-request.ts';
import { readBudgetFields } from './budget-form.ts';
import type { ConsentFrame } from './consent-page.ts';
import { openApprovedGrant } from './decide-consent.ts';
import {
  type AskedDevice,
  codePage,
  type DeviceBrowser,
  type DevicePagesDeps,
  decidedDevicePage,
  deviceFooter,
  deviceForm,
  devicePath,
  readDeviceForm,
  toSignIn,
} from './device-page.ts';
import { faultPage } from './fault-pages.ts';

/** A consent page to show, or to show again with its error. */
interface DeviceConsentInput {
  readonly locale: AskedDevice['locale'];
  readonly browser: DeviceBrowser;
  readonly request: DeviceRequestRecord;
  /** Submitted limit that is invalid. */
  readonly typedLimit?: string;
  /** Reason why the app is not connected yet. */
  readonly notice?: string;
}

/** Renders the consent page for the request of a device. */
export const showDeviceConsent = async (deps: DevicePagesDeps, input: DeviceConsentInput): Promise<ReplyContent> => {
  const { locale, browser, request, ...more } = input;
  const app = await findAppById(deps.database, request.clientId);
  const scopes = parseScope(request.scope);
  if (app?.active !== true || !app.deviceFlow || scopes === undefined) return faultPage(locale, 'app_inactive');
  return await renderConsent(deps, {
    ...more,
    frame: deviceConsentFrame(deps, { locale, browser, request, app }),
    session: browser.session,
    judged: { app, scopes },
    authorizationDetails: request.authorizationDetails ?? undefined,
  });
};

const deviceConsentFrame = (
  deps: DevicePagesDeps,
  { locale, browser, request, app }: DeviceConsentInput & { app: AppRecord },
): ConsentFrame => {
  const text = pageText(locale);
  const asked = { locale, device: request.digest.toString('base64url') };
  const { deviceName, network } = request;
  const from = network === null ? text.deviceNetworkUnknown : text.deviceNetwork(network);
  return {
    locale,
    text,
    app,
    form: (name, fields) => deviceForm(deps, browser, { asked, name: `/${name}`, fields }),
    footer: (links) => deviceFooter(locale, request.userCode, links),
    path: devicePath(locale, request.userCode),
    device: html`<p class="soft wrap">${
      deviceName === null ? text.deviceUnnamed : html`${text.deviceAsks} <strong>${isolated(deviceName)}</strong>`
    }, ${from}</p>
<p class="alert near">${text.deviceWarning}</p>`,
    goesTo: html`${text.deviceGoesTo}`,
  };
};

/** Records the decision of a person about the request of a device. The same form leads to the same page. */
export const submitDeviceDecision = async (
  deps: DevicePagesDeps & VerificationDeps,
  { req, source }: { req: IncomingMessage; source: string },
): Promise<ReplyContent> => {
  const read = await readDeviceForm(deps, req);
  if (!read.isTaken) return read.reply;
  const { fields, browser } = read;
  const { locale, device } = read.asked;
  const digest = Buffer.from(device ?? '', 'base64url');
  const request = await findDeviceRequest(deps.database, digest);
  if (request === undefined) return await showDecided(deps, { digest, browser, locale });
  if (fields.get('decision') !== 'approve') {
    await decideDeviceRequest(deps.database, digest, 'denied');
    return decidedDevicePage(locale, 'denied');
  }
  const { account } = browser.session;
  if (deps.isVerificationRequired && account.emailVerifiedAt === null) {
    await requestVerification(deps, account.id);
    return await showDeviceConsent(deps, { locale, browser, request, notice: pageText(locale).verifyFirst });
  }
  const budget = readBudgetFields(fields);
  if (budget === 'invalid') {
    return await showDeviceConsent(deps, { locale, browser, request, typedLimit: fields.get('limit') ?? '' });
  }
  try {
    const appName = await approveDevice(deps, { request, browser, budget, origin: originOf(source, 'browser') });
    return decidedDevicePage(locale, { approvedApp: appName });
  } catch (error) {
    if (error instanceof RequestGone) return await showDecided(deps, { digest, browser, locale });
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'invalid_token') return toSignIn(locale);
    if (error.code === 'app_inactive') return faultPage(locale, 'app_inactive');
    if (error.code === 'service_unavailable') return unavailablePage(locale);
    throw error;
  }
};

/** Thrown if a request was decided or has expired meanwhile. */
class RequestGone extends Error {
  override readonly name = 'RequestGone';
}

interface DeviceApproval {
  readonly request: DeviceRequestRecord;
  readonly browser: DeviceBrowser;
  readonly budget: Exclude<ReturnType<typeof readBudgetFields>, 'invalid'>;
  readonly origin: Origin;
}

/** Approves a request, and returns the name of its app. */
const approveDevice = async (
  deps: DevicePagesDeps,
  { request, browser, budget, origin }: DeviceApproval,
): Promise<string> => {
  const { clientId, deviceName, digest } = request;
  const userId = browser.session.account.id;
  const sessionId = browser.session.session.id;
  let appName = '';
  await openApprovedGrant(deps, {
    userId,
    clientId,
    budget,
    origin,
    deviceName,
    check: async (trx) => {
      const app = await holdApp(trx, clientId);
      if (!(await holdSession(trx, { userId, sessionId }))) throw new AppError('invalid_token');
      const scopes = parseScope(request.scope);
      if (app?.active !== true || !app.deviceFlow || scopes === undefined) throw new AppError('app_inactive');
      if ((await findDeviceRequest(trx, digest)) === undefined) throw new RequestGone();
      appName = app.name;
      return { app, scopes };
    },
    issue: async (trx, grantId) => {
      if (!(await decideDeviceRequest(trx, digest, { grantId }))) throw new RequestGone();
    },
  });
  return appName;
};

/** Shows that a request was approved, after a double click; else that it is no longer pending. */
const showDecided = async (
  deps: DevicePagesDeps,
  { digest, browser, locale }: { digest: Buffer; browser: DeviceBrowser; locale: Locale },
): Promise<ReplyContent> => {
  const clientId = await findAppOfApprovedDevice(deps.database, digest, browser.session.account.id);
  const app = clientId === undefined ? undefined : await findAppById(deps.database, clientId);
  return app === undefined
    ? codePage(deps, browser, { locale, isWrong: true })
    : decidedDevicePage(locale, { approvedApp: app.name });
};
