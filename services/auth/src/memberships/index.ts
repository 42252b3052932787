export {
  type ActingMembership,
  foundersMembership,
  type MembershipKey,
  type MembershipRecord,
  toActingFor,
  toMembershipJson,
  toOrganizationJson,
} from './membership.ts';
export {
  countMembers,
  countOwners,
  deleteMembership,
  findActingMembership,
  findMembership,
  findMembershipsByIds,
  insertMembership,
  listMembershipsElsewhere,
  listMembershipsOfOrganization,
  listOrganizationsOfUser,
  updateRole,
} from './queries.ts';
