import { type InspectedOrganization, organizationOperations } from '@svc/contracts';
import { argument, type Command, type CommandContext, type Print, printable, printTable } from '../command.ts';

const paramsOf = (context: CommandContext) => ({
  svc_user_id: argument(context, 0, 'the user id of the organization'),
});

/** Commands that help the people of an organization. */
export const organizationCommands: readonly Command[] = [
  {
    words: ['organization', 'show'],
    usage: '<user id>',
    argumentsMax: 1,
    about: 'an organization with its members and their roles',
    run: async (context) => {
      const params = paramsOf(context);
      printOrganization(context.print, await context.call(organizationOperations.showOrganization, { params }));
      return true;
    },
  },
  {
    words: ['organization', 'add-owner'],
    usage: '<user id> <address or user id of the person>',
    argumentsMax: 2,
    about: 'make a person an owner of an organization that has lost its last one; its audit log shows it',
    run: async (context) => {
      const params = paramsOf(context);
      const wanted = argument(context, 1, 'the address or user id of the person');
      const body = wanted.includes('@') ? { email: wanted } : { svc_user_id: wanted };
      const owner = await context.call(organizationOperations.addOwner, { params, body });
      context.print(`${params.svc_user_id}: ${owner.svc_user_id} is an owner`);
      return true;
    },
  },
];

const printOrganization = (print: Print, found: InspectedOrganization): void => {
  const rule = found.second_factor_required ? 'second factor required' : 'no second factor required';
  print(
    `${found.svc_user_id} ${printable(found.name)}: ${rule}${found.erased_at === null ? '' : `, erasure at ${found.erased_at}`}`,
  );
  printTable(
    print,
    ['MEMBER', 'ADDRESS', 'ROLE', 'SECOND FACTOR', 'JOINED'],
    found.members.map((member) => [
      member.svc_user_id,
      printable(member.email),
      member.role,
      member.has_second_factor,
      member.joined_at,
    ]),
  );
};
