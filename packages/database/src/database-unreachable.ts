import { reasonOf } from './reason-of.ts';
import { readServers } from './writable-server.ts';

/** PostgreSQL refuses the connection of a process that starts, or does not answer. The message has no password. */
export class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable';
  readonly code = 'database_unreachable';

  constructor(url: string, cause: unknown) {
    const servers = readServers(url).urls.map((each) => new URL(each));
    const hosts = servers.map(({ host }) => host).join(', ');
    const [user, name] = [servers[0]?.username ?? '', servers[0]?.pathname.slice(1) ?? ''].map(decodeURIComponent);
    // A name with several addresses fails with an AggregateError, which has no message.
    const reason = cause instanceof AggregateError ? cause.errors.map(reasonOf).join(', ') : reasonOf(cause);
    super(`DATABASE_URL: cannot connect to PostgreSQL at ${hosts} as ${user} for ${name}: ${reason}`, { cause });
  }
}
