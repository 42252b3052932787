import { randomBytes } from 'node:crypto';
import { type Locale, returnToSchema } from '@svc/contracts';
import { type Html, html } from '@svc/pages';
import { type AppRecord, toFormActionSource } from '../../apps/index.ts';
import { createSignInOptions, type FactorsDeps, type RequestOptions } from '../../factors/index.ts';
import type { BrowserSession } from '../../sessions/index.ts';
import type { AskedQuery } from './asked-query.ts';
import type { FormTokens } from './form-token.ts';
import type { MarkedRequest, PushedMarks } from './pushed-mark.ts';
import { en } from './texts/en.ts';
import { it } from './texts/it.ts';

/** The texts of the pages in one language. */
export type PageText = typeof it;

const texts: Readonly<Record<Locale, PageText>> = { it, en };

/** Returns the texts of a language. */
export const pageText = (locale: Locale): PageText => texts[locale];

const NONCE_BYTES = 18;
/** Control and format characters, including those that change the text direction. */
const STEERING_CHARACTERS = /[\p{Cc}\p{Cf}]/gu;
const INTERACTION_PATH = '/v1/integrations/oauth/interaction';

/** Content and state that all pages of one request share. */
export interface PageContext {
  readonly app: AppRecord;
  /** App name without control and format characters. */
  readonly appName: string;
  readonly query: AskedQuery;
  readonly text: PageText;
  readonly formTarget: string;
  /** The hidden field of every form. */
  readonly formToken: string;
  /** Path of this page, in the form in which others lead back to it. Undefined if it is too long. */
  readonly returnPath: string | undefined;
  /** Path that starts single sign-on and returns here; undefined if it is off. */
  readonly ssoPath: string | undefined;
  readonly ssoName: string | undefined;
  /** Options for signing in with any passkey. */
  readonly passkeyOptions: RequestOptions;
  /** Returns the address of this page, in either language. */
  readonly authorizePath: (over?: Readonly<Record<string, string>>) => string;
}

/** Prepares the pages for one browser and its session, if it has one. */
export const createPageContext = (
  deps: { formTokens: FormTokens; pushedMarks: PushedMarks; sso: { name: string | undefined } | undefined } & Pick<
    FactorsDeps,
    'relyingParty' | 'passkeyChallenges'
  >,
  input: AskedRequest & { app: AppRecord; session: BrowserSession | undefined },
): PageContext => {
  const { app, query, browserId, isPushed, session } = input;
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  return {
    app,
    appName: withoutSteering(app.name),
    query,
    text: pageText(query.locale),
    formTarget: toFormActionSource(query.redirect_uri),
    formToken: deps.formTokens.sign({ query, browserId, sessionId: session?.session.id, isPushed, nonce }),
    returnPath: returnToSchema.safeParse(authorizePath(deps, input)).data,
    ssoPath: deps.sso === undefined ? undefined : ssoPath(authorizePath(deps, input)),
    ssoName: deps.sso?.name,
    passkeyOptions: createSignInOptions(deps),
    authorizePath: (over) => authorizePath(deps, input, over),
  };
};

/** Returns undefined if the request is too long to return to. */
const ssoPath = (path: string): string | undefined => {
  const returnTo = returnToSchema.safeParse(path);
  return returnTo.success ? `/v1/console/sso/start?${new URLSearchParams({ return_to: returnTo.data })}` : undefined;
};

/** A request in one browser, with its origin. */
export interface AskedRequest extends MarkedRequest {
  readonly isPushed: boolean;
}

/** Returns the path of the authorize page for a request. */
export const authorizePath = (
  { pushedMarks }: { pushedMarks: PushedMarks },
  { query, browserId, isPushed }: AskedRequest,
  over: Readonly<Record<string, string>> = {},
): string => {
  const pushed = isPushed ? pushedMarks.make({ query, browserId }) : undefined;
  const all = { ...query, pushed, ...over };
  const given = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return `/v1/integrations/oauth/authorize?${new URLSearchParams(given)}`;
};

/** Renders a form; `action` is the last segment of its path. */
export const pageForm = (context: PageContext, action: string, content: Html, className = ''): Html => html`
<form method="post" action="${INTERACTION_PATH}/${action}"${className === '' ? '' : html` class="${className}"`}>
<input type="hidden" name="request" value="${context.formToken}">
${content}
</form>`;

/** Renders the footer: the link to the other language, and the page's own links. */
export const pageFooter = (context: PageContext, links: readonly (Html | undefined)[] = []): Html => {
  const other = context.query.locale === 'it' ? 'en' : 'it';
  return html`<footer>${links}<a href="${context.authorizePath({ locale: other })}" hreflang="${other}" lang="${other}">${context.text.otherLanguage}</a></footer>`;
};

/** Removes control and format characters from a name. */
export const withoutSteering = (name: string): string => name.replace(STEERING_CHARACTERS, '');

/** Isolates a name chosen by another person, so that it cannot change the text direction around it. */
export const isolated = (name: string): Html => html`<bdi>${name}</bdi>`;
