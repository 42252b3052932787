import { ACCOUNT_NAMES_MAX, internalRoutes } from '@svc/contracts';
import type { CallResult, InternalClient } from '@svc/service-kit';

/** A member of an organization, without the seat. */
export type OrganizationMember = CallResult<typeof internalRoutes.listMembersOf>['body']['data'][number];

/** Internal routes of auth that billing calls. */
export interface AuthClient {
  /** Lists the members of an organization. Throws kind `unavailable` if auth does not answer. */
  readonly listMembers: (organizationId: string) => Promise<readonly OrganizationMember[]>;
  /** Finds a member of an organization. Throws as `listMembers`. */
  readonly findMember: (organizationId: string, userId: string) => Promise<OrganizationMember | undefined>;
  /** Returns the names of accounts by their ids. Throws as `listMembers`. Omits accounts that were erased. */
  readonly nameAccounts: (userIds: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** Returns the name of an account; null if auth does not answer soon, or if the account was erased. */
  readonly nameSoon: (userId: string) => Promise<string | null>;
}

/** Time for the name of an account that a page can do without. */
const NAME_TIMEOUT_MS = 300;

export const createAuthClient = ({ call }: Pick<InternalClient, 'call'>): AuthClient => {
  const listMembers: AuthClient['listMembers'] = async (organizationId) =>
    (await call(internalRoutes.listMembersOf, { params: { svc_user_id: organizationId } })).body.data;
  const nameSome = async (userIds: readonly string[], timeoutMs?: number) => {
    const body = { svc_user_ids: [...userIds] };
    const { data } = (await call(internalRoutes.nameAccounts, { body, ...(timeoutMs && { timeoutMs }) })).body;
    return data;
  };
  return {
    listMembers,
    findMember: async (organizationId, userId) =>
      (await listMembers(organizationId)).find(({ svc_user_id }) => svc_user_id === userId),
    async nameAccounts(userIds) {
      const names = new Map<string, string>();
      for (let from = 0; from < userIds.length; from += ACCOUNT_NAMES_MAX) {
        for (const { svc_user_id, name } of await nameSome(userIds.slice(from, from + ACCOUNT_NAMES_MAX))) {
          if (name !== null) names.set(svc_user_id, name);
        }
      }
      return names;
    },
    nameSoon: async (userId) => {
      try {
        return (await nameSome([userId], NAME_TIMEOUT_MS))[0]?.name ?? null;
      } catch {
        return null;
      }
    },
  };
};
