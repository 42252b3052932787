import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { toAccountJson } from './account.ts';
import { type CreateAccountDeps, createAccount } from './create-account.ts';

/** Serves sign-up. */
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
    return { status: 201, body: { account: toAccountJson(account) } };
  }),
];
