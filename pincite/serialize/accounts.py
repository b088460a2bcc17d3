"""Users, groups, API keys, share links, usage and audit events as JSON."""

from dataclasses import asdict

from pincite.core.accounts.audit import AuditEvent, ChainCheck
from pincite.core.accounts.conversations import Share, SharedAnswer
from pincite.core.accounts.users import ApiKey, Group, Person
from pincite.engine.quotas import Quotas
from pincite.serialize.answers import answer_json
from pincite.serialize.primitives import Json, iso_time


def user_json(value: Person) -> Json:
    """A user."""
    return asdict(value) | {"created_at": iso_time(value.created_at)}


def group_json(value: Group) -> Json:
    """A group."""
    return asdict(value) | {"created_at": iso_time(value.created_at)}


def share_json(value: Share) -> Json:
    """A share link without its secret."""
    return {
        "reference": value.id,
        "owner": value.owner,
        "answer_id": value.answer_id,
        "created_at": iso_time(value.created_at),
        "expires_at": iso_time(value.expires_at),
    }


def shared_answer_json(value: SharedAnswer) -> Json:
    """A shared answer: the answer, its question and the user who shared it."""
    return answer_json(value.answer) | {
        "question": value.question,
        "shared_by": value.shared_by,
        "reference": value.id,
        "answered_at": iso_time(value.answered_at),
        "expires_at": iso_time(value.expires_at),
    }


def audit_event_json(value: AuditEvent) -> Json:
    """An audit event."""
    return asdict(value) | {"at": iso_time(value.at)}


def chain_check_json(value: ChainCheck) -> Json:
    """The result of checking the audit chain; `events` counts the verified events."""
    return {
        "ok": value.fault is None,
        "events": value.reached.number,
        "head": str(value.reached),
        "fault": value.fault,
    }


async def usage_json(quotas: Quotas, by: str, person: str) -> Json:
    """A user's usage and limits; `own` names the limits set for this user alone."""
    used, limits = await quotas.used(by, person)
    usage = asdict(used)
    return {"own": sorted(usage.pop("own")), "usage": usage, "limits": dict(limits)}


def key_json(value: ApiKey) -> Json:
    """An API key without its secret."""
    return asdict(value) | {
        "created_at": iso_time(value.created_at),
        "expires_at": iso_time(value.expires_at),
        "revoked_at": iso_time(value.revoked_at),
    }
