import { readFileSync } from 'node:fs';

const SAMPLE_MS = 20;

/** Resident memory of a process now (Linux only). */
export const residentMegabytes = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000);

/** Watches the resident memory of a process; `stop` returns the most that was seen. */
export const watchPeak = (pid: number): { readonly stop: () => number } => {
  let peak = residentMegabytes(pid);
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMegabytes(pid));
  }, SAMPLE_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return Math.max(peak, residentMegabytes(pid));
    },
  };
};
