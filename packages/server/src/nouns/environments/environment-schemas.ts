import type { Environment } from '../../domain/project.ts';
import type { Writable } from '../../domain/raw-json.ts';
import { isoTime } from '../../management/api/answers.ts';
import type { Written } from '../../management/write.ts';

/** An environment as it is answered. */
export function environmentRecord(environment: Written<Environment>): Writable {
  return {
    name: environment.name,
    revision: environment.revision,
    protected: environment.protected,
    approvals: environment.approvals,
    emergencyOff: environment.emergencyOff,
    reasonRequired: environment.reasonRequired,
    color: environment.color,
    position: environment.position,
    createdAt: isoTime(environment.createdAt),
    seq: environment.seq,
  };
}
