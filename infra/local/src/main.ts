import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const SUPERVISOR = fileURLToPath(new URL('./supervisor.ts', import.meta.url));

if (process.platform === 'win32') {
  process.stderr.write('The local stack runs on Linux and macOS. On Windows, use the Linux subsystem (WSL 2).\n');
  process.exit(1);
}

// A package manager that stops kills the process group of its script, which would leave no time to stop things in order.
// So the supervisor has its own session, and stops everything once this process is gone.
const supervisor = spawn(process.execPath, [SUPERVISOR], {
  detached: true,
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
});
for (const signal of SIGNALS) process.on(signal, () => supervisor.kill(signal));
supervisor.once('exit', (code) => process.exit(code ?? 1));
