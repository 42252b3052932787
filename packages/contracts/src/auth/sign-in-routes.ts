import { z } from 'zod';
import { defineRoute, formBody, page } from '../core/route.ts';
import { localeSchema } from './accounts.ts';

const pages = { service: 'auth', errorShape: 'detail', tag: 'Sign-in pages', caller: 'public' } as const;
const form = formBody(z.object({}));

const NEXT_CHARACTERS_MAX = 4096;

/** Query of the sign-up page. */
const signUpQuerySchema = z.object({
  next: z
    .string()
    .max(NEXT_CHARACTERS_MAX)
    .optional()
    .meta({ description: 'Path of the page to open afterwards. Anything else leads to the overview.' }),
  locale: localeSchema.optional(),
});

/** Query of the sign-in page. */
const signInQuerySchema = signUpQuerySchema.extend({ reason: z.enum(['expired', 'signed_out']).optional() });

const shown = { description: 'The page.', ...page } as const;
const refused = { description: 'A page that explains why the form was refused.', ...page } as const;
const submitted = {
  303: { description: 'Signed in: to the page that was asked for.' },
  200: { description: 'The page again, with its errors.', ...page },
  400: refused,
} as const;

/** Public prices, and the pages where people sign in to the console. They work without script. */
export const signInRoutes = {
  showPrices: defineRoute({
    ...pages,
    operationId: 'showPrices',
    method: 'GET',
    path: '/prices',
    summary: 'Show plans and prices',
    description: 'For people; programs read `listPlans` and `listPrices`.',
    request: { query: z.object({ locale: localeSchema.optional() }) },
    responses: { 200: shown },
    errors: [],
  }),
  showSignIn: defineRoute({
    ...pages,
    operationId: 'showSignIn',
    method: 'GET',
    path: '/sign-in',
    summary: 'Show the sign-in page',
    description: 'Works without scripts.',
    request: { query: signInQuerySchema },
    responses: { 200: shown },
    errors: [],
  }),
  signInToConsole: defineRoute({
    ...pages,
    operationId: 'signInToConsole',
    method: 'POST',
    path: '/sign-in',
    summary: 'Submit the sign-in page',
    description: 'Refuses other origins.',
    request: { body: form },
    responses: submitted,
    errors: [],
  }),
  finishSignInToConsole: defineRoute({
    ...pages,
    operationId: 'finishSignInToConsole',
    method: 'POST',
    path: '/sign-in/second-factor',
    summary: 'Submit the second factor',
    description: 'Refuses other origins.',
    request: { body: form },
    responses: submitted,
    errors: [],
  }),
  signInToConsoleWithPasskey: defineRoute({
    ...pages,
    operationId: 'signInToConsoleWithPasskey',
    method: 'POST',
    path: '/sign-in/passkey',
    summary: 'Sign in with a passkey',
    description: 'Refuses other origins.',
    request: { body: form },
    responses: submitted,
    errors: [],
  }),
  showIdentityLink: defineRoute({
    ...pages,
    operationId: 'showIdentityLink',
    method: 'GET',
    path: '/sign-in/link',
    summary: 'Show the page that links an identity to an account',
    description:
      'After single sign-on with the verified address of an account: the person proves to own it, by password or a mailed link.',
    request: { query: z.object({ locale: localeSchema.optional() }) },
    responses: { 200: shown, 400: { description: 'A page that says that the sign-in took too long.', ...page } },
    errors: ['sso_not_configured'],
  }),
  linkIdentity: defineRoute({
    ...pages,
    operationId: 'linkIdentity',
    method: 'POST',
    path: '/sign-in/link',
    summary: 'Prove an account by its password, and link the identity',
    description: 'Refuses other origins. An account with a second factor asks for it next.',
    request: { body: form },
    responses: submitted,
    errors: ['sso_not_configured'],
  }),
  finishIdentityLink: defineRoute({
    ...pages,
    operationId: 'finishIdentityLink',
    method: 'POST',
    path: '/sign-in/link/second-factor',
    summary: 'Submit the second factor, and link the identity',
    description: 'Refuses other origins.',
    request: { body: form },
    responses: submitted,
    errors: ['sso_not_configured'],
  }),
  mailIdentityLink: defineRoute({
    ...pages,
    operationId: 'mailIdentityLink',
    method: 'POST',
    path: '/sign-in/link/mail',
    summary: 'Mail a link that links the identity',
    description: 'Refuses other origins.',
    request: { body: form },
    responses: { 200: shown, 400: refused },
    errors: ['sso_not_configured'],
  }),
  showMailedIdentityLink: defineRoute({
    ...pages,
    operationId: 'showMailedIdentityLink',
    method: 'GET',
    path: '/sign-in/link/confirm',
    summary: 'Open a mailed link that links an identity',
    description: 'Changes nothing until the form of the page is submitted.',
    request: {
      query: z.object({
        token: z.string().max(256).describe('The token of the mailed link.').optional(),
        locale: localeSchema.optional(),
      }),
    },
    responses: { 200: shown },
    errors: ['sso_not_configured'],
  }),
  confirmMailedIdentityLink: defineRoute({
    ...pages,
    operationId: 'confirmMailedIdentityLink',
    method: 'POST',
    path: '/sign-in/link/confirm',
    summary: 'Link the identity of a mailed link',
    description: 'Refuses other origins. Starts no session.',
    request: { body: form },
    responses: { 200: shown, 400: refused },
    errors: ['sso_not_configured'],
  }),
  showSignUp: defineRoute({
    ...pages,
    operationId: 'showSignUp',
    method: 'GET',
    path: '/sign-up',
    summary: 'Show the sign-up page',
    description: 'Works without scripts.',
    request: { query: signUpQuerySchema },
    responses: { 200: shown },
    errors: [],
  }),
  signUpToConsole: defineRoute({
    ...pages,
    operationId: 'signUpToConsole',
    method: 'POST',
    path: '/sign-up',
    summary: 'Submit the sign-up page',
    description: 'Refuses other origins.',
    request: { body: form },
    responses: submitted,
    errors: [],
  }),
} as const;
