#!/usr/bin/env node
import { readAddressBook, readContexts } from './contexts.ts';
import { runCommand } from './run-command.ts';

// `svc … | head` closes the pipe before the end. The command finishes its work without output.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const { SVC_DISKS, SVC_BACKUP_DIR, BACKUP_INTERVAL_SECONDS, PUBLIC_BASE_URL, SVC_ENTRANCE } = process.env;
const result = await runCommand(process.argv.slice(2), {
  addresses: (context) => readAddressBook(process.env, context),
  contexts: () => readContexts(process.env),
  env: { SVC_DISKS, SVC_BACKUP_DIR, BACKUP_INTERVAL_SECONDS, PUBLIC_BASE_URL, SVC_ENTRANCE },
  print: (line) => process.stdout.write(`${line}\n`),
  // The image states the version of its release.
  version: /service\.version=([^,]+)/.exec(process.env['OTEL_RESOURCE_ATTRIBUTES'] ?? '')?.[1] ?? 'unreleased',
});
if (result.fault !== undefined) process.stderr.write(`svc: ${result.fault}\n`);
process.exitCode = result.exitCode;
