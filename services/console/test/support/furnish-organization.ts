import { newId } from '@svc/contracts';
import type { TestConsole } from './console.ts';
import { daysFromNow, organizationOf } from './mock-api/index.ts';
import { addMember, type Person } from './people.ts';

/** Gives a business members, an invitation, seats and acts. Returns a developer, who has a seat. */
export const furnishOrganization = (console: TestConsole, owner: Person): Person => {
  const { svc_user_id: id } = owner.account;
  const organization = organizationOf(console.state, id);
  addMember(console, owner, {
    email: 'carla.longaddress@a-rather-long-name.example',
    role: 'billing',
    name: 'Carla Neri',
  });
  const developer = addMember(console, owner, { email: 'developer@example.com', role: 'developer' });
  for (const membership of organization.memberships.slice(1)) membership.seat = 'standard';
  organization.seats.set('standard', 5);
  organization.invitations.push({
    id: newId('ivt'),
    email: 'guest@example.com',
    role: 'viewer',
    expires_at: daysFromNow(6.5),
  });
  const common = { at: daysFromNow(-0.1), source: 'console' as const };
  organization.acts.push(
    {
      ...common,
      id: newId('aud'),
      actor: { svc_user_id: developer.account.svc_user_id, name: 'Bruno Verdi' },
      action: 'api_key.created',
      target: { type: 'api_key', id: 'key_1', name: 'Nightly report' },
    },
    {
      ...common,
      id: newId('aud'),
      actor: { svc_user_id: newId('usr'), name: null },
      action: 'seats.changed',
      target: { type: 'seats', id: 'standard', name: null },
    },
    {
      ...common,
      id: newId('aud'),
      actor: null,
      source: 'operator',
      action: 'organization.owner_added',
      target: { type: 'member', id: id, name: 'Example Business' },
    },
  );
  const [key] = owner.has.keys;
  if (key !== undefined) Object.assign(key, { creator_left: true });
  return developer;
};
