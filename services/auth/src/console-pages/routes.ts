import type { IncomingMessage, ServerResponse } from 'node:http';
import { FORM_BYTES_MAX, localeSchema, routes } from '@svc/contracts';
import type { Publication } from '@svc/pages';
import { type Binding, bind, type ReplyContent, readBodyBytes } from '@svc/service-kit';
import {
  finishByForm,
  type PagesDeps,
  pageText,
  preferredLocale,
  refusedFormPage,
  secondFactorPage,
  seeOther,
  signInByForm,
  signInByPasskeyForm,
  signInPage,
  signUpByForm,
  signUpPage,
} from '../consent/index.ts';
import { isOwnOrigin } from '../own-origins.ts';
import { type StartedSession, sessionCookies, signInOriginOf } from '../sessions/index.ts';
import { type ConsoleEntrance, consoleFrame, safeNext } from './console-frame.ts';
import { pricesPage } from './prices-page.ts';
import type { ReadOffer } from './read-offer.ts';

interface FormRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly clientAddress: string;
}

export interface ConsolePagesDeps extends PagesDeps {
  readonly readOffer: ReadOffer;
  readonly publication: Publication;
}

/** Binds the page of prices, and the console's sign-in and sign-up pages. They need no script. */
export const consolePageRoutes = (deps: ConsolePagesDeps): Binding[] => [
  bind(routes.showPrices, async ({ query, req }) => {
    const locale = query.locale ?? preferredLocale(req);
    return pricesPage(await deps.readOffer(), { locale, publication: deps.publication });
  }),
  bind(routes.showSignIn, async ({ query, req }) => {
    const entrance = { locale: query.locale ?? preferredLocale(req), next: safeNext(query.next), reason: query.reason };
    return signInPage(consoleFrame(entrance, deps, 'sign-in'));
  }),
  bind(routes.showSignUp, async ({ query, req }) => {
    const entrance = { locale: query.locale ?? preferredLocale(req), next: safeNext(query.next) };
    return signUpPage(consoleFrame(entrance, deps, 'sign-up'));
  }),
  bind(routes.signInToConsole, (request) => submit(deps, request, signInByForm)),
  bind(routes.finishSignInToConsole, (request) => submit(deps, request, finishByForm)),
  bind(routes.signInToConsoleWithPasskey, (request) => submit(deps, request, signInByPasskeyForm)),
  bind(routes.signUpToConsole, async (request) => {
    const form = await readConsoleForm(deps, request);
    if ('reply' in form) return form.reply;
    const { fields, entrance } = form;
    const origin = signInOriginOf(request, deps.publicBaseUrl);
    const outcome = await signUpByForm(deps, { fields, locale: entrance.locale, origin });
    return 'refused' in outcome
      ? signUpPage(consoleFrame(entrance, deps, 'sign-up'), outcome.refused)
      : enterConsole(deps, request, { started: outcome.started, next: entrance.next });
  }),
];

/** Signs in with a form, or shows the next step: the second factor, or the form with its errors. */
const submit = async (
  deps: ConsolePagesDeps,
  request: FormRequest,
  signInBy: typeof signInByForm | typeof finishByForm | typeof signInByPasskeyForm,
): Promise<ReplyContent> => {
  const form = await readConsoleForm(deps, request);
  if ('reply' in form) return form.reply;
  const { fields, entrance } = form;
  const origin = signInOriginOf(request, deps.publicBaseUrl);
  const outcome = await signInBy(deps, { fields, text: pageText(entrance.locale), origin });
  if ('started' in outcome) return enterConsole(deps, request, { started: outcome.started, next: entrance.next });
  const frame = consoleFrame(entrance, deps, 'sign-in');
  return 'step' in outcome ? secondFactorPage(frame, outcome) : signInPage(frame, outcome.refused);
};

type ConsoleForm = { fields: URLSearchParams; entrance: ConsoleEntrance } | { reply: ReplyContent };

/** Parses a form. Refuses one from another site, which could sign a person in to another account. */
const readConsoleForm = async (deps: ConsolePagesDeps, { req }: FormRequest): Promise<ConsoleForm> => {
  const bytes = await readBodyBytes(req, FORM_BYTES_MAX);
  const fields = new URLSearchParams(bytes.toString('utf8'));
  const isOurs = isOwnOrigin(req.headers.origin, deps.publicBaseUrl);
  // Browsers do not send NUL, and no column can store it.
  const holdsNul = [...fields.values()].some((value) => value.includes('\0'));
  if (!isOurs || holdsNul) return { reply: refusedFormPage(preferredLocale(req)) };
  const locale = localeSchema.safeParse(fields.get('locale'));
  const next = safeNext(fields.get('next') ?? undefined);
  return { fields, entrance: { locale: locale.data ?? preferredLocale(req), next } };
};

const enterConsole = (
  { publicBaseUrl }: PagesDeps,
  { res }: FormRequest,
  { started, next }: { started: StartedSession; next: string },
): ReplyContent => {
  res.appendHeader('set-cookie', sessionCookies(started, publicBaseUrl));
  // Relative, because the page may be open at `localhost` instead of the IP address in the base URL.
  return seeOther(next);
};
