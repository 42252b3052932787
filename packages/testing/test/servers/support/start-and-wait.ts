import { startNats, startPostgres } from '../../../src/servers/index.ts';

// Starts both servers below a directory, prints their pids, and runs until it is killed.
const [directory = ''] = process.argv.slice(2);
const postgres = await startPostgres({ dataDir: `${directory}/postgres`, user: 'svc', password: 'secret' });
const nats = await startNats({ storeDir: `${directory}/nats` });
process.stdout.write(`${JSON.stringify({ postgres: postgres.pid, nats: nats.pid })}\n`);
setInterval(() => undefined, 60_000);
