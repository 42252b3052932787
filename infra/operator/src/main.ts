#!/usr/bin/env node
import { readAddressBook } from './address-book.ts';
import { readContexts } from './contexts.ts';
import { runCommand } from './run-command.ts';

const result = await runCommand(process.argv.slice(2), {
  addresses: (context) => readAddressBook(process.env, context),
  contexts: () => readContexts(process.env),
  print: (line) => process.stdout.write(`${line}\n`),
});
if (result.fault !== undefined) process.stderr.write(`svc: ${result.fault}\n`);
process.exitCode = result.exitCode;
