import type { MemberJson } from '@svc/contracts';
import type { MemberRecord } from './queries.ts';

/** `plan_id` of the seat of each member who has one. */
export type Seats = ReadonlyMap<string, string>;

/** Maps a member to the JSON that other members see. */
export const toMemberJson = (member: MemberRecord, seats: Seats): MemberJson => ({
  ...toSeatlessMemberJson(member),
  seat: seats.get(member.userId) ?? null,
});

/** Maps a member to the JSON that other services see, who know the seats themselves. */
export const toSeatlessMemberJson = (member: MemberRecord): Omit<MemberJson, 'seat'> => ({
  svc_user_id: member.userId,
  name: member.displayName ?? member.email,
  email: member.email,
  role: member.role,
  has_second_factor: member.hasSecondFactor,
  joined_at: member.joinedAt.toISOString(),
});
