import {
  type AccountUsage,
  type AppTerms,
  type AppTermsChange,
  type ConsentPlan,
  internalRoutes,
  type Usage,
} from '@svc/contracts';
import { AppError, createInternalClient } from '@svc/service-kit';

/** A user and an app. */
export interface ConnectionKey {
  readonly userId: string;
  readonly clientId: string;
}

/**
 * Client of billing, which holds budgets and pauses. All methods throw `service_unavailable` if it does not respond.
 */
export interface BillingClient {
  /** Changes the terms of an app from its next request on, and returns them. */
  readonly changeTerms: (key: ConnectionKey, change: AppTermsChange) => Promise<AppTerms>;
  /** Returns the terms of the user's apps that have a budget or are paused, by app. */
  readonly listTerms: (userId: string) => Promise<ReadonlyMap<string, AppTerms>>;
  /** Returns the share of a week's plan that users of an app typically spend on it; null if too few use it. */
  readonly readTypicalUse: (clientId: string) => Promise<number | null>;
  /** Returns what is left of the user's plan; null without a live subscription. */
  readonly readPlan: (userId: string) => Promise<PaidPlan | null>;
  /** Lists a page of accounts whose erasure reached billing since a moment, by id. */
  readonly listErasedAccounts: (page: { since: Date; after: string | undefined }) => Promise<ErasedPage>;
  /** Returns the `plan_id` of the seat of each member of an organization who has one. */
  readonly listSeats: (organizationId: string) => Promise<ReadonlyMap<string, string>>;
  readonly close: () => Promise<void>;
}

/** A user's plan, and the use beyond its caps that the wallet pays. */
export interface PaidPlan extends ConsentPlan {
  readonly extra: AccountUsage['extra'];
}

/** Pseudonymous ids of erased accounts. */
export interface ErasedPage {
  readonly data: readonly string[];
  readonly has_more: boolean;
}

/** The person who opened the page waits for it. */
const TIMEOUT_MS = 2_000;
/** The page renders without this answer. */
const TYPICAL_USE_TIMEOUT_MS = 300;

/** Creates the client of billing's internal routes. */
export const createBillingClient = (options: { readonly baseUrl: string; readonly token: string }): BillingClient => {
  const client = createInternalClient({ ...options, timeoutMs: TIMEOUT_MS });
  return {
    changeTerms: async ({ userId, clientId }, body) => {
      const params = { svc_user_id: userId, client_id: clientId };
      const call = client.call(internalRoutes.changeAppTerms, { params, body });
      return (await call.catch(failUnavailable)).body;
    },
    listTerms: async (userId) => {
      const call = client.call(internalRoutes.listAppTerms, { params: { svc_user_id: userId } });
      const { data } = (await call.catch(failUnavailable)).body;
      return new Map(data.map(({ client_id, ...terms }) => [client_id, terms]));
    },
    readTypicalUse: async (clientId) => {
      const params = { client_id: clientId };
      const call = client.call(internalRoutes.readTypicalUse, { params, timeoutMs: TYPICAL_USE_TIMEOUT_MS });
      return (await call.catch(failUnavailable)).body.week_share_percent;
    },
    readPlan: async (userId) => {
      const call = client.call(internalRoutes.readAccountUsage, { params: { svc_user_id: userId } });
      return toPlan((await call.catch(failUnavailable)).body);
    },
    listErasedAccounts: async ({ since, after }) => {
      const query = { since: since.toISOString(), ...(after === undefined ? {} : { after }) };
      const call = client.call(internalRoutes.listErasedAccounts, { query });
      return (await call.catch(failUnavailable)).body;
    },
    listSeats: async (organizationId) => {
      const call = client.call(internalRoutes.listSeatHolders, { params: { svc_user_id: organizationId } });
      const { data } = (await call.catch(failUnavailable)).body;
      return new Map(data.map(({ svc_user_id, plan_id }) => [svc_user_id, plan_id]));
    },
    close: () => client.close(),
  };
};

/** States of a subscription that has ended, or that was never paid. */
const ENDED: readonly Usage['status'][] = ['canceled', 'unpaid', 'incomplete', 'incomplete_expired'];

const toPlan = ({ plan, status, services, weekly, monthly, extra }: AccountUsage): PaidPlan | null => {
  if (plan === null || status === null || weekly === null || monthly === null || ENDED.includes(status)) return null;
  return { name: plan.name, status, services, weekly, monthly, extra };
};

const failUnavailable = (error: unknown): never => {
  throw new AppError('service_unavailable', undefined, { cause: error });
};
