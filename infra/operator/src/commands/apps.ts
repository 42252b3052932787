import { appOperations, documentOperations, type ReportedApp, serviceOperations } from '@svc/contracts';
import { argument, type Command, type CommandContext, printable, printTable } from '../command.ts';
import { UsageError } from '../operator-error.ts';

const paramsOf = (context: CommandContext) => ({ client_id: argument(context, 0, 'the client id') });

/** Commands on apps that users have reported. */
export const appCommands: readonly Command[] = [
  {
    words: ['reports', 'list'],
    usage: '',
    about: 'the apps that users have reported, those with open reports first',
    run: async ({ call, print }) => {
      const { data } = await call(appOperations.listReportedApps, {});
      if (data.length === 0) print('no app is reported');
      else {
        printTable(
          print,
          ['APP', 'NAME', 'OWNER', 'STATE', 'OPEN', 'REPORTERS', 'REASONS', 'LAST'],
          data.map((app) => [
            app.client_id,
            app.name === null ? null : printable(app.name),
            app.owner_user_id,
            stateOf(app),
            app.open,
            app.reporters,
            Object.entries(app.reasons)
              .map(([reason, count]) => `${reason} ${count}`)
              .join(', '),
            app.last_reported_at,
          ]),
        );
      }
      return true;
    },
  },
  {
    words: ['reports', 'show'],
    usage: '<client id>',
    argumentsMax: 1,
    about: 'the reports about one app, newest first, with their comments',
    run: async (context) => {
      const { data } = await context.call(appOperations.listAppReports, { params: paramsOf(context) });
      printTable(
        context.print,
        ['REPORTED', 'CLOSED', 'USER', 'REASON', 'COMMENT'],
        data.map((report) => [
          report.reported_at,
          report.closed_at,
          report.svc_user_id,
          report.reason,
          report.comment === null ? null : printable(report.comment),
        ]),
      );
      return true;
    },
  },
  {
    words: ['reports', 'close'],
    usage: '<client id>',
    argumentsMax: 1,
    about: 'close the open reports about an app; later ones are open again',
    run: async (context) => {
      const { closed } = await context.call(appOperations.closeAppReports, { params: paramsOf(context) });
      context.print(`${closed} reports closed`);
      return true;
    },
  },
  {
    words: ['apps', 'list'],
    usage: '--metadata-documents',
    options: { 'metadata-documents': { type: 'boolean' } },
    about: 'the clients of metadata documents, which no business registered, the last fetched first',
    run: async ({ call, print, values }) => {
      if (values['metadata-documents'] !== true) throw new UsageError('--metadata-documents is missing');
      const { data } = await call(documentOperations.listClientDocuments, {});
      if (data.length === 0) print('no metadata document is known');
      else {
        printTable(
          print,
          ['CLIENT', 'NAME', 'STATE', 'CONNECTIONS', 'FETCHED', 'EXPIRES'],
          data.map((client) => [
            client.client_id,
            printable(client.name),
            client.suspended_at === null ? 'active' : 'suspended',
            client.connections,
            client.fetched_at,
            client.expires_at,
          ]),
        );
      }
      return true;
    },
  },
  {
    words: ['apps', 'block'],
    usage: '<host>',
    argumentsMax: 1,
    about: 'refuse the metadata documents of a host, suspend its clients and end their connections',
    run: async (context) => {
      const host = argument(context, 0, 'the host');
      const { suspended } = await context.call(documentOperations.blockClientHost, { body: { host } });
      context.print(`${host}: blocked, ${suspended} clients suspended`);
      return true;
    },
  },
  {
    words: ['apps', 'unblock'],
    usage: '<host>',
    argumentsMax: 1,
    about: 'accept the metadata documents of a host again; connections do not come back',
    run: async (context) => {
      const host = argument(context, 0, 'the host');
      const { resumed } = await context.call(documentOperations.unblockClientHost, { body: { host } });
      context.print(`${host}: not blocked, ${resumed} clients may ask again`);
      return true;
    },
  },
  {
    words: ['apps', 'suspend'],
    usage: '<client id>',
    argumentsMax: 1,
    about: 'deactivate an app, end its connections and close its reports; its owner gets a mail and cannot activate it',
    run: async (context) => {
      const app = await context.call(appOperations.suspendApp, { params: paramsOf(context) });
      context.print(`${app.client_id}: suspended since ${app.suspended_at}`);
      return true;
    },
  },
  {
    words: ['apps', 'resume'],
    usage: '<client id>',
    argumentsMax: 1,
    about: 'let the owner of a suspended app activate it again',
    run: async (context) => {
      const app = await context.call(appOperations.resumeApp, { params: paramsOf(context) });
      context.print(`${app.client_id}: ${app.active ? 'active' : 'not suspended; its owner can activate it'}`);
      return true;
    },
  },
];

const stateOf = ({ active, suspended_at, deleted }: ReportedApp): string => {
  if (deleted) return 'deleted';
  if (suspended_at !== null) return 'suspended';
  return active ? 'active' : 'inactive';
};

/** Commands for deliveries of webhooks. */
export const webhookCommands: readonly Command[] = [
  {
    words: ['webhooks', 'retry'],
    usage: '--blocked-since <RFC 3339> [--host <name>]',
    about: 'retry the failed events that block webhooks since a moment, of one receiver or of all',
    options: { 'blocked-since': { type: 'string' }, host: { type: 'string' } },
    run: async ({ call, print, values }) => {
      const sinceMs = Date.parse(String(values['blocked-since'] ?? ''));
      if (Number.isNaN(sinceMs)) throw new UsageError('--blocked-since is missing or no RFC 3339 time');
      const blocked_since = new Date(sinceMs).toISOString();
      const host = values['host'] === undefined ? null : String(values['host']);
      const retryAfter = async (after: string | null): Promise<number> => {
        const body = { blocked_since, host, after };
        const page = await call(serviceOperations.retryBlockedLanes, { body });
        for (const { owner_id, event_id } of page.data) print(`${owner_id}: ${event_id} is retried`);
        return page.data.length + (page.after === null ? 0 : await retryAfter(page.after));
      };
      print(`${await retryAfter(null)} events retried`);
      return true;
    },
  },
];
