"""`check.py VERSION… < objects.yaml`: checks objects against the JSON schemas of Kubernetes, strictly, and prints a line for each fault."""

import sys

import kubernetes_validate
import yaml

for each in yaml.safe_load_all(sys.stdin):
    if each is None:
        continue
    for version in sys.argv[1:]:
        try:
            kubernetes_validate.validate(each, version, strict=True)
        except kubernetes_validate.SchemaNotFoundError:
            # Kinds that Kubernetes does not bring; main.go checks them.
            pass
        except kubernetes_validate.ValidationError as error:
            where = "/".join(str(step) for step in error.absolute_path)
            print(f"{each['kind']} in Kubernetes {version}: {where}: {error.message}")
