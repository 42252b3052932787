import { parseArgs } from 'node:util';
import type { RouteDefinition, ServiceName } from '@svc/contracts';
import { AppError, createInternalClient, type InternalClient } from '@svc/service-kit';
import { type CallService, type Cell, type Command, type Print, printTable } from './command.ts';
import { accountCommands, organizationCommands, refundCommands } from './commands/accounts.ts';
import { afterRestoreCommands } from './commands/after-restore.ts';
import { appCommands, webhookCommands } from './commands/apps.ts';
import { deadLetterCommands, outboxCommands } from './commands/dead-letters.ts';
import { doctorCommands } from './commands/doctor.ts';
import { routesCommands } from './commands/routes.ts';
import { secretCommands, signingKeyCommands } from './commands/secrets.ts';
import { statusCommands } from './commands/status.ts';
import { unadmittedCommands, uncertainCommands } from './commands/unsettled-requests.ts';
import { completionFor, shells } from './completion.ts';
import type { AddressBook, Contexts } from './contexts.ts';
import type { MachineSettings } from './doctor.ts';
import { OperatorError, UsageError } from './operator-error.ts';

/** Output of a command for programs. Tables have a member for each column. */
interface CollectedOutput {
  readonly lines: readonly string[];
  readonly tables: readonly (readonly Readonly<Record<string, Cell>>[])[];
}

/** Collects what a command prints. */
const collectOutput = (): { readonly print: Print; readonly output: () => CollectedOutput } => {
  const lines: string[] = [];
  const tables: Readonly<Record<string, Cell>>[][] = [];
  const print = Object.assign(
    (line: string) => {
      if (line !== '') lines.push(line);
    },
    {
      table: (heading: readonly string[], rows: readonly (readonly Cell[])[]) => {
        const names = heading.map((name) => name.toLowerCase().replaceAll(/[^a-z0-9_]+/g, '_'));
        tables.push(rows.map((row) => Object.fromEntries(names.map((name, column) => [name, row[column] ?? null]))));
      },
    },
  );
  return { print, output: () => ({ lines, tables }) };
};

const TIMEOUT_MS = 60_000;

/** Shows the environments that `--context` chooses among. */
const contextCommands: readonly Command[] = [
  {
    words: ['contexts'],
    usage: '',
    about: 'list the environments of the file of contexts; calls none',
    callsServices: false,
    run: async ({ contexts, print }) => {
      const { file, current, contexts: known } = contexts();
      const rows = Object.entries(known).map(([name, context]) => [
        name === current ? `${name} (current)` : name,
        'data_dir' in context ? context.data_dir : Object.values(context.urls).join(' '),
      ]);
      if (rows.length === 0) throw new OperatorError(`${file} has no contexts`);
      printTable(print, ['CONTEXT', 'SERVICES'], rows);
      return true;
    },
  },
];

const commands: readonly Command[] = [
  ...statusCommands,
  ...doctorCommands,
  ...deadLetterCommands,
  ...outboxCommands,
  ...afterRestoreCommands,
  ...uncertainCommands,
  ...unadmittedCommands,
  ...webhookCommands,
  ...refundCommands,
  ...accountCommands,
  ...organizationCommands,
  ...appCommands,
  ...signingKeyCommands,
  ...secretCommands,
  ...routesCommands,
  ...contextCommands,
];

export interface Surroundings {
  /** Finds the environment of a named context, or the default one. */
  readonly addresses: (context?: string) => AddressBook;
  readonly contexts: () => Contexts;
  readonly print: Print;
  readonly version: string;
  readonly env: MachineSettings;
}

/** Exit code of a run: 0, done; 1, refused or faults found; 2, invalid command line. */
export interface RunResult {
  readonly exitCode: 0 | 1 | 2;
  readonly fault?: string;
}

/** Runs one command line. Never throws for an operator's mistake. */
export const runCommand = async (line: readonly string[], surroundings: Surroundings): Promise<RunResult> => {
  const { context, args: withFlags } = takeContext(line);
  const args = withFlags.filter((word) => word !== '--json');
  if (args.length === withFlags.length) return await runWords(args, context, surroundings);
  const { print, output } = collectOutput();
  const result = await runWords(args, context, { ...surroundings, print });
  const { exitCode, fault = null } = result;
  surroundings.print(JSON.stringify({ ok: exitCode === 0, fault, ...output() }));
  return { exitCode };
};

const runWords = async (
  args: readonly string[],
  context: string | undefined,
  surroundings: Surroundings,
): Promise<RunResult> => {
  const { print } = surroundings;
  const [word] = args;
  if (word === '--version') return printed(print, `svc ${surroundings.version}`);
  if (word === 'completion') return complete(args, print);
  const isHelp = word === 'help' || args.includes('--help');
  const asked = args.filter((each, index) => each !== '--help' && !(index === 0 && each === 'help'));
  const found = findCommand(asked);
  if (found === undefined) return listCommands(asked, { print, isHelp: isHelp || asked.length === 0 });
  if (isHelp) return printed(print, helpOf(found.command));
  return await runFound(found, context, surroundings);
};

const printed = (print: Print, text: string): RunResult => {
  print(text);
  return { exitCode: 0 };
};

const complete = ([, shell]: readonly string[], print: Print): RunResult => {
  const known = shells.find((each) => each === shell);
  if (known === undefined) return { exitCode: 2, fault: `usage: svc completion ${shells.join('|')}` };
  return printed(print, completionFor(known, commands));
};

/** Lists all commands, or those that begin with the same word. */
const listCommands = (
  args: readonly string[],
  { print, isHelp }: { readonly print: Print; readonly isHelp: boolean },
): RunResult => {
  const meant = commands.filter(({ words }) => words[0] === args[0]);
  printTable(
    print,
    ['COMMAND', 'EFFECT'],
    (meant.length > 0 ? meant : commands).map((command) => [usageOf(command), command.about]),
  );
  const isKnown = args.length === 0 || (isHelp && meant.length > 0);
  return isKnown ? { exitCode: 0 } : { exitCode: 2, fault: `there is no command "${args.join(' ')}"` };
};

const usageOf = ({ words, usage }: Command): string => `svc ${[...words, usage].join(' ').trim()}`;

const helpOf = (command: Command): string =>
  [
    `usage: ${usageOf(command)}`,
    '',
    command.about,
    ...Object.keys(command.options ?? {}).map((name) => `  --${name}`),
    '  --json           print one JSON document: ok, fault, lines, tables',
    '  --context <name> choose an environment',
  ].join('\n');

const runFound = async (
  { command, rest }: { readonly command: Command; readonly rest: readonly string[] },
  context: string | undefined,
  surroundings: Surroundings,
): Promise<RunResult> => {
  const { print, contexts, env } = surroundings;
  const clients = new Map<ServiceName, InternalClient>();
  try {
    const parsed = parseArgs({ args: rest.map(guard), options: command.options ?? {}, allowPositionals: true });
    const positionals = parsed.positionals.map(unguard);
    const values = Object.fromEntries(
      Object.entries(parsed.values).map(([name, value]) => [name, typeof value === 'string' ? unguard(value) : value]),
    );
    const surplus = positionals[command.argumentsMax ?? 0];
    if (surplus !== undefined) throw new UsageError(`"${surplus}" is one argument too many`);
    const addresses = () => surroundings.addresses(context);
    const call = command.callsServices === false ? callNone : createCall(addresses(), clients);
    const isGood = await command.run({ positionals, values, call, addresses, print, contexts, env });
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

/** Every option has two dashes. One dash begins the id of some keys, which the parser would take for options. */
const GUARD = '\u0000';
const guard = (word: string): string => (/^-[^-]/.test(word) ? `${GUARD}${word}` : word);
const unguard = (word: string): string => (word.startsWith(GUARD) ? word.slice(GUARD.length) : word);

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

const faultOf = (error: unknown, command: Command): RunResult => {
  const help = `usage: ${usageOf(command)}`;
  if (error instanceof UsageError) return { exitCode: 2, fault: `${error.message}\n${help}` };
  if (error instanceof OperatorError) return { exitCode: 1, fault: error.message };
  if (error instanceof AppError) return { exitCode: 1, fault: `${error.code}: ${error.publicMessage}` };
  // `parseArgs` rejects unknown options.
  if (error instanceof TypeError && 'code' in error) {
    return { exitCode: 2, fault: `${error.message}\n${help}` };
  }
  throw error;
};
