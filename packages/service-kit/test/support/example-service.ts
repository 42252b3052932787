import { setTimeout } from 'node:timers/promises';
import { runService } from '../../src/index.ts';

const mode = process.argv[2];

/** A service process that prints its port, streams on request and reports its stop order. */
runService({
  name: 'example',
  start: async (life) => {
    life.configure({ shutdownGraceMs: mode === 'hurried' ? 200 : 5_000 });
    life.onStop('database', () => say('stopped database'));
    life.onStop('relay', async () => {
      await setTimeout(20);
      say('stopped relay');
    });
    if (mode === 'refuses') throw new Error('cannot start');
    if (mode === 'fails-to-stop') life.onStop('broken', () => Promise.reject(new Error('stuck')));
    const listener = await life.listen(
      async (req, res) => {
        if (req.url === '/crash') queueMicrotask(() => crash());
        if (req.url === '/reject') void Promise.reject(new Error('never caught'));
        if (req.url !== '/stream') return void res.end(String(life.isStopping));
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        for (let event = 0; event < 10; event += 1) {
          res.write(`data: ${event}\n\n`);
          await setTimeout(mode === 'hurried' ? 500 : 50);
        }
        res.end('data: [DONE]\n\n');
      },
      { port: 0, host: '127.0.0.1' },
    );
    const internal = await life.listen((_req, res) => void res.end(String(life.isStopping)), {
      port: 0,
      host: '127.0.0.1',
      internal: true,
    });
    say(`ports ${listener.port} ${internal.port}`);
  },
});

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const crash = (): never => {
  throw new Error('never caught');
};
