import { median, percentile } from './statistics.ts';

/** `52.1 k/s` */
export function perSecond(rate: number): string {
  return rate >= 1000 ? `${(rate / 1000).toFixed(1)} k/s` : `${rate.toFixed(0)}/s`;
}

/** Milliseconds with as many digits as they deserve. */
export function milliseconds(ms: number): string {
  return ms >= 100
    ? `${ms.toFixed(0)} ms`
    : ms >= 0.1
      ? `${ms.toFixed(ms >= 10 ? 1 : 2)} ms`
      : microseconds(ms);
}

/** Milliseconds, written as microseconds. */
export function microseconds(ms: number): string {
  const us = ms * 1000;
  return `${us >= 100 ? us.toFixed(0) : us.toFixed(1)} µs`;
}

/** `93 %` */
export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

/** `1.07 x` */
export function times(ratio: number): string {
  return `${ratio.toFixed(2)} x`;
}

/** Bytes as people say them. */
export function bytes(count: number): string {
  return count >= 1024 ? `${(count / 1024).toFixed(1)} KiB` : `${count.toFixed(0)} B`;
}

/** Bytes of memory: `67.4 MiB` */
export function mebibytes(count: number): string {
  return `${(count / 2 ** 20).toFixed(count >= 100 * 2 ** 20 ? 0 : 1)} MiB`;
}

/** `p99 2.41 ms, median 1.08 ms` */
export function spread(ms: readonly number[]): string {
  return `p99 ${milliseconds(percentile(ms, 0.99))}, median ${milliseconds(median(ms))}`;
}
