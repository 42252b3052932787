import { randomBytes } from 'node:crypto';
import { type AuthorizeQuery, authorizeQuerySchema, type Locale, localeSchema, returnToSchema } from '@svc/contracts';
import { type Html, html } from '@svc/pages';
import type { Macs } from '@svc/secrets';
import type { z } from 'zod';
import type { PasswordRules, SignUps, VerificationDeps } from '../accounts/index.ts';
import { type AppRecord, type FindAskingApp, toFormActionSource } from '../apps/index.ts';
import type { BillingClient } from '../billing-client.ts';
import { createSignInOptions, type FactorsDeps, type RequestOptions } from '../factors/index.ts';
import { knownScopes } from '../oauth/index.ts';
import {
  type FormContext,
  type FormTokens,
  type PageText,
  pageText,
  preferredUiLocale,
  type SignInFrame,
  withoutSteering,
} from '../pages/index.ts';
import type { AuthenticateSessionDeps, BrowserSession, StartSessionDeps } from '../sessions/index.ts';
import type { AuthorizeRequest } from './authorize-request.ts';
import type { DecideConsentDeps } from './decide-consent.ts';
import type { FindTypicalUse } from './get-consent.ts';

/** Dependencies of the consent page. */
export interface ConsentPageDeps extends Pick<DecideConsentDeps, 'database' | 'clock' | 'publicBaseUrl'> {
  readonly billing: Pick<BillingClient, 'changeTerms' | 'readPlan'>;
  readonly findTypicalUse: FindTypicalUse;
  /** Currency of plans and budgets. */
  readonly currency: string;
}

export interface PagesDeps
  extends DecideConsentDeps,
    AuthenticateSessionDeps,
    StartSessionDeps,
    VerificationDeps,
    ConsentPageDeps {
  readonly billing: ConsentPageDeps['billing'];
  readonly findApp: FindAskingApp;
  readonly signUps: SignUps;
  readonly passwordRules: PasswordRules;
  readonly formTokens: FormTokens<AskedQuery>;
  readonly pushedMarks: PushedMarks;
  /** If configured, the sign-in page offers single sign-on. */
  readonly sso: { name: string | undefined } | undefined;
  /** Derives the code of a decision from its form, so that the same form yields the same code. */
  readonly decisionMacs: Macs;
}

/** Part of a query that the pages and their forms carry along: known scopes, one locale. */
export const askedQuerySchema = authorizeQuerySchema
  .omit({ ui_locales: true, resource: true, prompt: true, response_mode: true, request: true })
  .extend({ locale: localeSchema });

export type AskedQuery = z.infer<typeof askedQuerySchema>;

/** Content of a form about a request. */
export type AskedForm = FormContext<AskedQuery>;

const DEFAULT_LOCALE: Locale = 'it';

/** Drops unknown scopes (RFC 6749 section 3.3) and chooses the language. */
export const toAskedQuery = (query: AuthorizeQuery): AskedQuery => {
  const locale = query.locale ?? preferredUiLocale(query.ui_locales) ?? DEFAULT_LOCALE;
  return askedQuerySchema.parse({ ...query, scope: knownScopes(query.scope).join(' '), locale });
};

/** Converts a query to a request. */
export const toAuthorizeRequest = (query: AskedQuery, isPushed: boolean): AuthorizeRequest => ({
  clientId: query.client_id,
  redirectUri: query.redirect_uri,
  scope: query.scope,
  codeChallenge: query.code_challenge,
  dpopThumbprint: query.dpop_jkt,
  isPushed,
});

/** A request in one browser. */
interface MarkedRequest {
  readonly query: AskedQuery;
  readonly browserId: string;
}

/**
 * Marks that a query was pushed. A pushed request can be fetched once (RFC 9126 section 4), but signing in or changing
 * the language leads back to the page, so the mark is kept in its address. It is valid for the same browser, in either
 * language.
 */
interface PushedMarks {
  readonly make: (request: MarkedRequest) => string;
  readonly holds: (mark: string, request: MarkedRequest) => boolean;
}

/** Creates the signer of marks. */
export const createPushedMarks = (macs: Macs): PushedMarks => {
  const signed = ({ query, browserId }: MarkedRequest): string => {
    const { locale: _free, ...fixed } = query;
    const pairs = Object.entries(fixed).sort(([a], [b]) => (a < b ? -1 : 1));
    return JSON.stringify([browserId, pairs]);
  };
  return {
    make: (request) => macs.sign(signed(request)).toString('base64url'),
    holds: (mark, request) => macs.verify(signed(request), Buffer.from(mark, 'base64url')),
  };
};

/** A request in one browser, with its origin. */
export interface AskedRequest extends MarkedRequest {
  readonly isPushed: boolean;
}

const NONCE_BYTES = 18;

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
  deps: {
    formTokens: FormTokens<AskedQuery>;
    pushedMarks: PushedMarks;
    sso: { name: string | undefined } | undefined;
  } & Pick<FactorsDeps, 'relyingParty' | 'passkeyChallenges'>,
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

/** Returns the surroundings on the authorize page. */
export const authorizeFrame = (context: PageContext): SignInFrame => {
  const { text, query, ssoPath, ssoName, passkeyOptions } = context;
  const deny = html`<button class="second" type="submit" name="decision" value="deny">${text.cancel}</button>`;
  return {
    locale: query.locale,
    text,
    lead: text.signInLead(context.appName),
    form: (name, fields) => pageForm(context, name, fields),
    signInPath: context.authorizePath(),
    signUpPath: context.authorizePath({ prompt: 'create' }),
    sso: ssoPath === undefined ? undefined : { path: ssoPath, name: ssoName },
    passkeyOptions,
    offersBusiness: false,
    cancel: pageForm(context, 'decision', deny),
    footer: pageFooter(context),
    formTarget: context.formTarget,
  };
};
