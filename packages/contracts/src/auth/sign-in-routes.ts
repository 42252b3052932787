import { z } from 'zod';
import { defineRoute } from '../core/route.ts';
import { localeSchema } from './accounts.ts';
import { formBody, page } from './forms.ts';

const pages = { service: 'auth', errorShape: 'detail', tag: 'Accounts', caller: 'public' } as const;
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

const submitted = {
  303: { description: 'Signed in: to the page that was asked for.' },
  200: { description: 'The page again, with its errors.', ...page },
  400: { description: 'A page that explains why the form was refused.', ...page },
} as const;

/** Pages where people sign in to the console. They work without script. */
export const signInRoutes = {
  showSignIn: defineRoute({
    ...pages,
    operationId: 'showSignIn',
    method: 'GET',
    path: '/sign-in',
    summary: 'Show the sign-in page',
    description: 'Works without scripts.',
    request: { query: signInQuerySchema },
    responses: { 200: { description: 'The page.', ...page } },
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
  showSignUp: defineRoute({
    ...pages,
    operationId: 'showSignUp',
    method: 'GET',
    path: '/sign-up',
    summary: 'Show the sign-up page',
    description: 'Works without scripts.',
    request: { query: signUpQuerySchema },
    responses: { 200: { description: 'The page.', ...page } },
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
