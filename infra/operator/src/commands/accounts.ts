import {
  accountOperations,
  type InspectedAccount,
  type InspectedOrganization,
  internalRoutes,
  organizationOperations,
} from '@svc/contracts';
import { argument, type Command, type CommandContext, type Print, printable, printTable } from '../command.ts';
import { UsageError } from '../operator-error.ts';

const userIdOf = (context: CommandContext): string => argument(context, 0, 'the user id');

/** Commands that help the owner of an account. */
export const accountCommands: readonly Command[] = [
  {
    words: ['account', 'find'],
    usage: '<address or user id>',
    argumentsMax: 1,
    about: 'the account of an address or id, with its second factors and sessions',
    run: async (context) => {
      const wanted = argument(context, 0, 'the address or user id');
      const body = wanted.includes('@') ? { email: wanted } : { svc_user_id: wanted };
      printAccount(context.print, await context.call(accountOperations.findAccount, { body }));
      return true;
    },
  },
  {
    words: ['account', 'reset-factor'],
    usage: '<user id>',
    argumentsMax: 1,
    about: 'remove the second factors and recovery codes of an owner who lost them',
    run: async (context) => {
      const svc_user_id = userIdOf(context);
      const { removed } = await context.call(accountOperations.resetFactors, { params: { svc_user_id } });
      context.print(
        removed === 0 ? `${svc_user_id}: nothing to do, there is no factor` : `${svc_user_id}: ${removed} removed`,
      );
      return true;
    },
  },
  {
    words: ['account', 'end-sessions'],
    usage: '<user id> [--access]',
    argumentsMax: 1,
    about: 'sign an account out everywhere; with --access also end its connections and API keys',
    options: { access: { type: 'boolean' } },
    run: async (context) => {
      const svc_user_id = userIdOf(context);
      const body = { access: context.values['access'] === true };
      const { ended } = await context.call(accountOperations.endAccountSessions, { params: { svc_user_id }, body });
      context.print(`${svc_user_id}: ${ended} sessions ended${body.access ? ', with connections and API keys' : ''}`);
      return true;
    },
  },
  {
    words: ['account', 'erase'],
    usage: '<user id> [--at-once]',
    argumentsMax: 1,
    about: 'end all access to an account and have it erased, after the delay or at once',
    options: { 'at-once': { type: 'boolean' } },
    run: async (context) => {
      const svc_user_id = userIdOf(context);
      const body = { at_once: context.values['at-once'] === true };
      const { erased_at } = await context.call(accountOperations.eraseAccount, { params: { svc_user_id }, body });
      context.print(`${svc_user_id}: erasure at ${erased_at}`);
      return true;
    },
  },
];

const printAccount = (print: Print, found: InspectedAccount): void => {
  const { account, factors } = found;
  printTable(
    print,
    ['ACCOUNT', account.svc_user_id],
    [
      ['address', `${account.email} (${account.email_verified ? 'verified' : 'not verified'})`],
      ['type', account.account_type],
      ['created', account.created_at],
      ['password', found.has_password],
      ['second factors', factors.map(({ type }) => type).join(', ') || null],
      ['recovery codes left', found.recovery_codes_left],
      ['sessions', found.sessions],
      ['last used', found.last_used_at],
      ['connected apps', found.connections],
      ['erasure at', found.erased_at],
    ],
  );
};

/** Commands that refund top-ups. */
export const refundCommands: readonly Command[] = [
  {
    words: ['refund'],
    usage: '<user id> <checkout session id> <refund id of yours> --amount-micros <n>',
    argumentsMax: 3,
    about: 'refund a top-up, or a part of it; once per refund id',
    options: { 'amount-micros': { type: 'string' } },
    run: async (context) => {
      const svc_user_id = argument(context, 0, 'the user id');
      const session_id = argument(context, 1, 'the checkout session id');
      const refund_id = argument(context, 2, 'a refund id of yours');
      const { state, amount_micros, currency } = await context.call(internalRoutes.refundTopUp, {
        params: { svc_user_id },
        body: { refund_id, session_id, amount_micros: amountOf(context.values['amount-micros']) },
      });
      context.print(`${refund_id}: ${state}, ${amount_micros} micros of ${currency}`);
      return state !== 'refused';
    },
  },
];

const amountOf = (amount: unknown): number => {
  if (typeof amount !== 'string' || !/^[1-9]\d{0,14}$/.test(amount)) {
    throw new UsageError('--amount-micros is a whole number');
  }
  return Number(amount);
};

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
