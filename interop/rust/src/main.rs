use std::error::Error;
use std::io::{BufRead, stdin};

use open_feature::{
    Client, EvaluationContext, EvaluationDetails, EvaluationError, EvaluationErrorCode,
    FlagMetadataValue, OpenFeature, StructValue, Value,
};
use open_feature_ofrep::{OfrepOptions, OfrepProvider};
use reqwest::header::{HeaderMap, HeaderName};
use serde_json::{Map, Value as Json, json};

async fn connect(step: &Json) -> Result<Json, Box<dyn Error>> {
    let mut headers = HeaderMap::new();
    for (name, value) in step["headers"].as_object().ok_or("no headers")? {
        let value = value.as_str().ok_or("a header is not text")?;
        headers.insert(HeaderName::from_bytes(name.as_bytes())?, value.parse()?);
    }
    let base_url = step["url"].as_str().ok_or("no url")?.to_string();
    let provider = OfrepProvider::new(OfrepOptions { base_url, headers, ..Default::default() }).await?;
    OpenFeature::singleton_mut().await.set_provider(provider).await;
    Ok(json!({}))
}

async fn evaluate(client: &Client, step: &Json, targeting_key: Option<&str>) -> Result<Json, Box<dyn Error>> {
    let mut context = EvaluationContext { targeting_key: targeting_key.map(String::from), ..Default::default() };
    for (name, value) in step["attributes"].as_object().into_iter().flatten() {
        context = match value {
            Json::Bool(value) => context.with_custom_field(name, *value),
            Json::Number(value) => context.with_custom_field(name, value.as_f64().unwrap_or_default()),
            value => context.with_custom_field(name, value.as_str().unwrap_or_default()),
        };
    }
    let key = step["key"].as_str().ok_or("no key")?;
    let user = Some(&context);
    let fallback = &step["default"];
    Ok(match step["type"].as_str() {
        Some("boolean") => answer(client.get_bool_details(key, user, None).await, fallback, Json::from),
        Some("string") => answer(client.get_string_details(key, user, None).await, fallback, Json::from),
        Some("integer") => answer(client.get_int_details(key, user, None).await, fallback, Json::from),
        Some("float") => answer(client.get_float_details(key, user, None).await, fallback, Json::from),
        _ => answer(client.get_struct_details::<StructValue>(key, user, None).await, fallback, |value| {
            to_json(Value::Struct(value))
        }),
    })
}

/// The SDK has no defaults: its callers write `unwrap_or(default)`.
fn answer<T>(
    result: Result<EvaluationDetails<T>, EvaluationError>,
    fallback: &Json,
    convert: fn(T) -> Json,
) -> Json {
    match result {
        Ok(details) => {
            let metadata: Map<String, Json> = details
                .flag_metadata
                .values
                .into_iter()
                .map(|(name, value)| (name, metadata_to_json(value)))
                .collect();
            json!({
                "value": convert(details.value),
                "reason": details.reason.map(|reason| reason.to_string()),
                "variant": details.variant,
                "metadata": metadata,
            })
        }
        Err(error) => json!({ "value": fallback, "errorCode": code(error.code) }),
    }
}

fn code(code: EvaluationErrorCode) -> &'static str {
    match code {
        EvaluationErrorCode::ProviderNotReady => "PROVIDER_NOT_READY",
        EvaluationErrorCode::FlagNotFound => "FLAG_NOT_FOUND",
        EvaluationErrorCode::ParseError => "PARSE_ERROR",
        EvaluationErrorCode::TypeMismatch => "TYPE_MISMATCH",
        EvaluationErrorCode::TargetingKeyMissing => "TARGETING_KEY_MISSING",
        EvaluationErrorCode::InvalidContext => "INVALID_CONTEXT",
        EvaluationErrorCode::General(_) => "GENERAL",
    }
}

fn to_json(value: Value) -> Json {
    match value {
        Value::Bool(value) => value.into(),
        Value::Int(value) => value.into(),
        Value::Float(value) => value.into(),
        Value::String(value) => value.into(),
        Value::Array(values) => values.into_iter().map(to_json).collect(),
        Value::Struct(value) => value.fields.into_iter().map(|(name, value)| (name, to_json(value))).collect(),
    }
}

fn metadata_to_json(value: FlagMetadataValue) -> Json {
    match value {
        FlagMetadataValue::Bool(value) => value.into(),
        FlagMetadataValue::Int(value) => value.into(),
        FlagMetadataValue::Float(value) => value.into(),
        FlagMetadataValue::String(value) => value.into(),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", json!({ "provider": env!("PROVIDER"), "runtime": env!("RUNTIME") }));
    let client = OpenFeature::singleton().await.create_client();
    for line in stdin().lock().lines() {
        let step: Json = serde_json::from_str(&line?)?;
        let answer = match step["do"].as_str() {
            Some("connect") => connect(&step).await?,
            Some("evaluate") => evaluate(&client, &step, step["targetingKey"].as_str()).await?,
            _ => {
                let mut values = Vec::new();
                for key in step["targetingKeys"].as_array().ok_or("no targeting keys")? {
                    values.push(evaluate(&client, &step, key.as_str()).await?["value"].take());
                }
                json!({ "values": values })
            }
        };
        println!("{answer}");
    }
    Ok(())
}
