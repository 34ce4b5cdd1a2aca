import { parseAllDocuments } from 'yaml';

/** A pod, as far as the checks read it. */
export interface PodSpec {
  readonly containers: readonly {
    readonly args?: readonly string[];
    readonly env: readonly { readonly name: string; readonly value?: string }[];
    readonly ports: readonly { readonly name: string }[];
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
    readonly securityContext: Readonly<Record<string, unknown>>;
    readonly lifecycle?: unknown;
  }[];
  readonly volumes?: readonly { readonly name: string }[];
  readonly securityContext: {
    readonly runAsNonRoot?: boolean;
    readonly seccompProfile?: { readonly type: string };
  };
  readonly terminationGracePeriodSeconds: number;
}

type Labels = Readonly<Record<string, string>>;

/** An object of Kubernetes, as far as the checks read it. */
export interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly type?: string;
    readonly selector?: Labels & { readonly matchLabels?: Labels };
    readonly podSelector?: { readonly matchLabels: Labels };
    readonly scaleTargetRef?: { readonly kind: string; readonly name: string };
    readonly ports?: readonly { readonly name: string; readonly targetPort: string }[];
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
    readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
  };
}

/** The objects in a text of YAML. Throws for duplicate members. */
export function objectsIn(text: string): KubernetesObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error) throw error;
    const object: KubernetesObject | null = document.toJS();
    return object === null ? [] : [{ ...object, spec: object.spec ?? {} }];
  });
}

/** The pods of the stateful set: their labels and what they run. */
export function podOf(objects: readonly KubernetesObject[]): {
  readonly labels: Labels;
  readonly spec: PodSpec;
} {
  const template = objects.find(({ kind }) => kind === 'StatefulSet')?.spec.template;
  if (template === undefined) throw new Error('there is no stateful set');
  return { labels: template.metadata.labels, spec: template.spec };
}
