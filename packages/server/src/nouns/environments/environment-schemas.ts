import type { Environment } from '../../domain/project.ts';
import type { Writable } from '../../domain/raw-json.ts';
import { isoTime } from '../../management/api/answers.ts';
import type { Written } from '../../management/write.ts';

/** An environment as it is answered. */
export function environmentRecord(environment: Written<Environment>): Writable {
  const {
    name,
    revision,
    protected: isProtected,
    approvals,
    emergencyOff,
    reasonRequired,
    color,
    position,
    createdAt,
    seq,
  } = environment;
  return {
    name,
    revision,
    protected: isProtected,
    approvals,
    emergencyOff,
    reasonRequired,
    color,
    position,
    createdAt: isoTime(createdAt),
    seq,
  };
}
