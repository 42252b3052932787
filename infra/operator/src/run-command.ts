import { parseArgs } from 'node:util';
import type { RouteDefinition, ServiceName } from '@svc/contracts';
import { AppError, createInternalClient, type InternalClient } from '@svc/service-kit';
import type { AddressBook } from './address-book.ts';
import { type CallService, type Command, printTable } from './command.ts';
import { accountCommands } from './commands/account.ts';
import { afterRestoreCommands } from './commands/after-restore.ts';
import { appCommands } from './commands/apps.ts';
import { contextCommands } from './commands/contexts.ts';
import { deadLetterCommands } from './commands/dead-letters.ts';
import { outboxCommands } from './commands/outbox.ts';
import { refundCommands } from './commands/refund.ts';
import { routesCommands } from './commands/routes.ts';
import { signingKeyCommands } from './commands/signing-keys.ts';
import { signingSecretCommands } from './commands/signing-secrets.ts';
import { statusCommands } from './commands/status.ts';
import { uncertainCommands } from './commands/uncertain.ts';
import type { Contexts } from './contexts.ts';
import { OperatorError, UsageError } from './operator-error.ts';

const TIMEOUT_MS = 60_000;

const commands: readonly Command[] = [
  ...statusCommands,
  ...deadLetterCommands,
  ...outboxCommands,
  ...afterRestoreCommands,
  ...uncertainCommands,
  ...refundCommands,
  ...accountCommands,
  ...appCommands,
  ...signingKeyCommands,
  ...signingSecretCommands,
  ...routesCommands,
  ...contextCommands,
];

export interface Surroundings {
  /** Finds the environment of a named context, or the default one. */
  readonly addresses: (context?: string) => AddressBook;
  readonly contexts: () => Contexts;
  readonly print: (line: string) => void;
}

/** Exit code of a run: 0, done; 1, refused or faults found; 2, invalid command line. */
export interface RunResult {
  readonly exitCode: 0 | 1 | 2;
  readonly fault?: string;
}

/** Runs one command line. Never throws for an operator's mistake. */
export const runCommand = async (line: readonly string[], surroundings: Surroundings): Promise<RunResult> => {
  const { print } = surroundings;
  const { context, args } = takeContext(line);
  const found = findCommand(args);
  if (found === undefined) {
    // Suggestions for an incomplete command.
    const meant = commands.filter(({ words }) => words[0] === args[0]);
    printTable(
      print,
      ['COMMAND', 'EFFECT'],
      (meant.length > 0 ? meant : commands).map(({ words, usage, about }) => [
        `svc ${[...words, usage].join(' ').trim()}`,
        about,
      ]),
    );
    const isAsked = args.length === 0 || args[0] === 'help' || args[0] === '--help';
    return isAsked ? { exitCode: 0 } : { exitCode: 2, fault: `there is no command "${args.join(' ')}"` };
  }
  const { command, rest } = found;
  const clients = new Map<ServiceName, InternalClient>();
  try {
    const { positionals, values } = parseArgs({
      args: [...rest],
      options: command.options ?? {},
      allowPositionals: true,
    });
    const surplus = positionals[command.argumentsMax ?? 0];
    if (surplus !== undefined) throw new UsageError(`"${surplus}" is one argument too many`);
    const call = command.callsServices === false ? callNone : createCall(surroundings.addresses(context), clients);
    const isGood = await command.run({ positionals, values, call, print, contexts: surroundings.contexts });
    return { exitCode: isGood ? 0 : 1 };
  } catch (error) {
    return faultOf(error, command);
  } finally {
    await Promise.all([...clients.values()].map((client) => client.close()));
  }
};

/** Takes `--context <name>` out of a command line, where it may stand anywhere. */
const takeContext = (line: readonly string[]): { context?: string; args: readonly string[] } => {
  const at = line.findIndex((word) => word === '--context' || word.startsWith('--context='));
  const word = line[at];
  if (word === undefined) return { args: line };
  const isApart = word === '--context';
  const context = isApart ? (line[at + 1] ?? '') : word.slice('--context='.length);
  return { context, args: line.toSpliced(at, isApart ? 2 : 1) };
};

const callNone: CallService = () => Promise.reject(new OperatorError('this command calls no service'));

const findCommand = (args: readonly string[]) => {
  const command = commands.find(({ words }) => words.every((word, index) => args[index] === word));
  return command === undefined ? undefined : { command, rest: args.slice(command.words.length) };
};

const createCall =
  ({ token, operator, urls }: AddressBook, clients: Map<ServiceName, InternalClient>): CallService =>
  async (route, input) => {
    const { service } = route;
    const baseUrl = urls[service];
    if (baseUrl === undefined) throw new OperatorError(`the address of ${service} is not known`);
    checkInput(route, input);
    const client = clients.get(service) ?? createInternalClient({ baseUrl, token, operator, timeoutMs: TIMEOUT_MS });
    clients.set(service, client);
    return (await client.call(route, input)).body;
  };

/** Throws UsageError for the first value that the route's contract refuses. */
const checkInput = (
  { request }: RouteDefinition,
  input: { readonly params?: unknown; readonly body?: unknown },
): void => {
  const issues = [
    ...(request.params?.safeParse(input.params).error?.issues ?? []),
    ...(request.body?.schema.safeParse(input.body).error?.issues ?? []),
  ];
  const [issue] = issues;
  if (issue === undefined) return;
  const name = issue.path.map(String).join(' ').replaceAll('_', ' ');
  throw new UsageError(name === '' ? issue.message : `the ${name} is invalid: ${issue.message}`);
};

const faultOf = (error: unknown, { words, usage }: Command): RunResult => {
  const help = `usage: svc ${[...words, usage].join(' ').trim()}`;
  if (error instanceof UsageError) return { exitCode: 2, fault: `${error.message}\n${help}` };
  if (error instanceof OperatorError) return { exitCode: 1, fault: error.message };
  if (error instanceof AppError) return { exitCode: 1, fault: `${error.code}: ${error.publicMessage}` };
  // `parseArgs` rejects unknown options.
  if (error instanceof TypeError && 'code' in error) {
    return { exitCode: 2, fault: `${error.message}\n${help}` };
  }
  throw error;
};
