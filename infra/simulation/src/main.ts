import { parseArgs } from 'node:util';
import { runCampaign } from './campaign.ts';
import { reportOf } from './report.ts';
import { simulate } from './simulation.ts';

const OPERATIONS = 3_000;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    operations: { type: 'string' },
    until: { type: 'string' },
    minutes: { type: 'string' },
    plant: { type: 'string' },
    trace: { type: 'boolean' },
    hashes: { type: 'boolean' },
    template: { type: 'string' },
  },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 1_000_000_000) : Number(values.seed);
const operations = values.operations === undefined ? OPERATIONS : Number(values.operations);

const runOne = async (): Promise<void> => {
  const began = process.cpuUsage();
  const report = await simulate({
    seed,
    operations,
    ...(values.until === undefined ? {} : { untilStep: Number(values.until) }),
    ...(values.plant === undefined ? {} : { plant: values.plant }),
    ...(values.trace === true ? { onLine: (line: string) => console.log(line) } : {}),
    ...(values.hashes === true ? { onHash: (step: number, hash: string) => console.log(`${step} ${hash}`) } : {}),
    template: values.template,
  });
  console.log(reportOf({ seed, operations, report, cpu: process.cpuUsage(began), plant: values.plant }));
  if (report.violation !== undefined) process.exitCode = 1;
};

if (values.minutes === undefined) await runOne();
else process.exitCode = (await runCampaign({ minutes: Number(values.minutes), operations, firstSeed: seed })) ? 0 : 1;
