import { html } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import { type AppRecord, findAppById } from '../apps/index.ts';
import { type ConsentFrame, faultPage, isolated, pageText, parseScope, renderConsent } from '../consent/index.ts';
import type { DeviceRequestRecord } from '../oidc/index.ts';
import {
  type AskedDevice,
  type DeviceBrowser,
  type DevicePagesDeps,
  deviceFooter,
  deviceForm,
  devicePath,
} from './device-frame.ts';

/** A consent page to show, or to show again with its error. */
export interface DeviceConsentInput {
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
