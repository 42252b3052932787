import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { toAccountJson } from '../accounts/index.ts';
import { renewedSessionCookies, toSessionJson } from '../sessions/index.ts';
import { type ChangeProfileDeps, changeProfile, upgradeToBusiness } from './change-profile.ts';

/** Binds the routes of the profile. */
export const profileRoutes = (deps: ChangeProfileDeps): Binding[] => [
  bind(routes.updateAccount, async ({ body, caller }) => {
    const account = await changeProfile(deps, caller.userId, body);
    return { status: 200, body: { account: toAccountJson(account) } };
  }),
  bind(routes.upgradeAccount, async ({ body, caller, res }) => {
    const renewed = await upgradeToBusiness(deps, caller, body.business_name);
    res.appendHeader('set-cookie', renewedSessionCookies(renewed.token, deps.publicBaseUrl));
    return { status: 200, body: toSessionJson(renewed, deps.clock()) };
  }),
];
