import { internalRoutes, newId, type RouteDefinition } from '@svc/contracts';
import { AppError, type InternalClient } from '@svc/service-kit';
import type { OrganizationMember } from '../../src/auth-client.ts';

/** Auth as billing sees it: members of organizations, and names of accounts. */
export class TestAuth implements Pick<InternalClient, 'call'> {
  readonly #members = new Map<string, OrganizationMember[]>();
  readonly #names = new Map<string, string>();
  /** True while auth does not answer. */
  isSilent = false;
  /** Runs before each answer. */
  beforeAnswer: () => Promise<void> = async () => undefined;

  /** Adds a member to an organization. Returns the member. */
  join(organizationId: string, userId = newId('usr')): OrganizationMember {
    const name = `Name of ${userId}`;
    const member: OrganizationMember = {
      svc_user_id: userId,
      name,
      email: `${userId}@example.org`,
      role: 'developer',
      has_second_factor: false,
      joined_at: '2026-10-01T12:00:00.000Z',
      membership_id: newId('mem'),
    };
    this.#members.set(organizationId, [...(this.#members.get(organizationId) ?? []), member]);
    this.name(userId, name);
    return member;
  }

  leave(organizationId: string, userId: string): void {
    const members = this.#members.get(organizationId) ?? [];
    this.#members.set(
      organizationId,
      members.filter(({ svc_user_id }) => svc_user_id !== userId),
    );
  }

  name(userId: string, name: string): void {
    this.#names.set(userId, name);
  }

  readonly call: InternalClient['call'] = async (route, input) => {
    // Each route below gets the input and the answer of its contract.
    return (await this.#answer(route, input as never)) as never;
  };

  async #answer(
    { operationId }: RouteDefinition,
    input: { params: { svc_user_id: string }; body: { svc_user_ids: string[] } },
  ): Promise<unknown> {
    if (this.isSilent) throw new AppError('service_unavailable');
    const answer =
      operationId === internalRoutes.listMembersOf.operationId
        ? (this.#members.get(input.params.svc_user_id) ?? [])
        : input.body.svc_user_ids.map((id) => ({ svc_user_id: id, name: this.#names.get(id) ?? null }));
    await this.beforeAnswer();
    return { status: 200, body: { data: answer } };
  }
}
