import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { type CreateAccountDeps, createAccount } from './create-account.ts';
import { describeAccount, describeNewAccount } from './describe-account.ts';
import { confirmVerification, requestVerification } from './verify-email.ts';

/** Binds the routes of sign-up and address confirmation. */
export const accountRoutes = (deps: CreateAccountDeps): Binding[] => [
  bind(routes.createAccount, async ({ body, clientAddress }) => {
    const input = {
      email: body.email,
      password: body.password,
      accountType: body.account_type,
      businessName: body.business_name ?? null,
      displayName: body.display_name ?? null,
      locale: body.locale,
    };
    const account = await createAccount(deps, input, clientAddress);
    return { status: 201, body: { account: describeNewAccount(account) } };
  }),
  bind(routes.requestVerification, async ({ caller }) => {
    await requestVerification(deps, caller.userId);
    return { status: 202 };
  }),
  bind(routes.confirmVerification, async ({ body }) => {
    const account = await confirmVerification(deps, body.token);
    return { status: 200, body: { account: await describeAccount(deps.database, account) } };
  }),
];
