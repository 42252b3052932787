import {
  authorizationDetailsSchema,
  type InferenceBudget,
  type Locale,
  type PlanServices,
  type Scope,
  type ValidationIssue,
} from '@svc/contracts';
import { AppError, type Clock, invalidRequest } from '@svc/service-kit';
import { type AppRecord, isRegisteredRedirectUri } from '../apps/index.ts';
import { hasPassed } from '../connections/index.ts';
import { knownScopes } from '../oauth/index.ts';

/** An app's request: well-formed, but unchecked. */
export interface AuthorizeRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly codeChallenge: string;
  /** Thumbprint of the key that the code is bound to, if the app names one (RFC 9449 section 10). */
  readonly dpopThumbprint: string | undefined;
  /** True if the app pushed the request (RFC 9126); false if it came in the browser's URL. */
  readonly isPushed: boolean;
}

/** Reasons to refuse a request before the user sees it. */
export type AuthorizeFault =
  | 'unknown_app'
  | 'app_inactive'
  | 'pushed_request_required'
  | 'redirect_uri_not_registered'
  | 'unknown_scope'
  | 'invalid_authorization_details';

/** A request of a known, active app with a registered redirect URI, or its fault. */
export type JudgedAuthorizeRequest =
  | { readonly isValid: true; readonly app: AppRecord; readonly scopes: Scope[] }
  | { readonly isValid: false; readonly faults: readonly AuthorizeFault[] };

/** Checks a request against its app. */
export const judgeAuthorizeRequest = (
  app: AppRecord | undefined,
  request: Pick<AuthorizeRequest, 'redirectUri' | 'scope' | 'isPushed'>,
): JudgedAuthorizeRequest => {
  if (app === undefined) return { isValid: false, faults: ['unknown_app'] };
  if (!app.active) return { isValid: false, faults: ['app_inactive'] };
  if (app.requirePushedAuthorizationRequests && !request.isPushed)
    return { isValid: false, faults: ['pushed_request_required'] };
  const scopes = parseScope(request.scope);
  const isRegistered = isRegisteredRedirectUri(app.redirectUris, request.redirectUri);
  if (isRegistered && scopes !== undefined) return { isValid: true, app, scopes };
  return {
    isValid: false,
    faults: [
      ...(isRegistered ? [] : ['redirect_uri_not_registered' as const]),
      ...(scopes === undefined ? ['unknown_scope' as const] : []),
    ],
  };
};

const messages = {
  invalid_authorization_details: ['authorization_details', 'Value error, malformed'],
  unknown_app: ['client_id', 'Value error, there is no such app'],
  redirect_uri_not_registered: ['redirect_uri', 'Value error, not registered for this app'],
  unknown_scope: ['scope', 'Value error, names a scope that does not exist'],
} as const;

/** As `judgeAuthorizeRequest`, but throws 422 with the invalid fields, `app_inactive` or `pushed_request_required`. */
export const checkAuthorizeRequest = (
  app: AppRecord | undefined,
  request: AuthorizeRequest,
  origin: 'body' | 'query',
): { app: AppRecord; scopes: Scope[] } => {
  const judged = judgeAuthorizeRequest(app, request);
  if (judged.isValid) return judged;
  throw invalidRequest(judged.faults.map((fault) => toIssue(fault, origin)));
};

const toIssue = (fault: AuthorizeFault, origin: 'body' | 'query'): ValidationIssue => {
  if (fault === 'app_inactive' || fault === 'pushed_request_required') throw new AppError(fault);
  const [field, msg] = messages[fault];
  return { loc: [origin, field], type: 'value_error', msg };
};

/** Budget proposed by an app, or `malformed` (RFC 9396 section 5). */
type BudgetProposal = InferenceBudget | undefined | 'malformed';

/**
 * Parses the `authorization_details` of a request. A currency other than that of the plans, and an end that has passed, are
 * malformed.
 */
export const readBudgetProposal = (
  text: string | undefined,
  { currency, clock }: { readonly currency: string; readonly clock: Clock },
): BudgetProposal => {
  if (text === undefined) return undefined;
  const read = authorizationDetailsSchema.safeParse(parseJson(text));
  if (!read.success) return 'malformed';
  const [proposal] = read.data;
  if (proposal === undefined) return undefined;
  return proposal.currency === currency && !hasPassed(proposal, clock()) ? proposal : 'malformed';
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

interface ScopeText {
  readonly title: string;
  readonly description: string;
}

const texts: Readonly<Record<Scope, Readonly<Record<Locale, ScopeText>>>> = {
  inference: {
    it: {
      title: 'Usare la chat e la trascrizione audio per tuo conto',
      description: 'Il consumo viene addebitato al tuo abbonamento.',
    },
    en: {
      title: 'Use chat and audio transcription on your behalf',
      description: 'What it uses is charged to your subscription.',
    },
  },
  'usage:read': {
    it: {
      title: 'Leggere i tuoi limiti e il tuo consumo',
      description: 'Quanto hai usato dei limiti settimanali e mensili e quali servizi comprende il tuo piano.',
    },
    en: {
      title: 'Read your limits and your usage',
      description: 'How much of your weekly and monthly limits is used, and which services your plan includes.',
    },
  },
};

/**
 * Parses a space-separated list (RFC 6749 section 3.3) into our order, without duplicates; surplus blanks are ignored.
 * Returns undefined if it is empty or contains an unknown scope.
 */
export const parseScope = (text: string): Scope[] | undefined => {
  const known = knownScopes(text);
  const named = new Set(text.split(' ').filter((name) => name !== ''));
  return known.length > 0 && known.length === named.size ? known : undefined;
};

/** Titles of `inference` on plans that include one service alone. */
const singleServiceTitles: Readonly<Record<keyof PlanServices, Readonly<Record<Locale, string>>>> = {
  chat: { it: 'Usare la chat per tuo conto', en: 'Use chat on your behalf' },
  audio_transcription: {
    it: 'Usare la trascrizione audio per tuo conto',
    en: 'Use audio transcription on your behalf',
  },
};

/** Returns the title and description of a scope. Names no service that the plan lacks, if the plan is known. */
export const scopeText = (scope: Scope, locale: Locale, services?: PlanServices): ScopeText => {
  const text = texts[scope][locale];
  if (scope !== 'inference' || services === undefined || services.chat === services.audio_transcription) return text;
  return { ...text, title: singleServiceTitles[services.chat ? 'chat' : 'audio_transcription'][locale] };
};
